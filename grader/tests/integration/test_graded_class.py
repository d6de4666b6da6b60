"""Every example submission gets the correct status, even if hostile ones are graded in the same run."""

import csv
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.proof import zoo
from grader.results.result import read
from grader.results.source import load_submission
from grader.tests import ROOT
from grader.tests.conftest import FEW, Run, call_grader, grade
from grader.tests.support.submissions import write_assignment
from torchkata.course import course

EXAMPLES = sorted((ROOT / "examples/submissions").iterdir())
KATAS = [kata.name for kata in course().choose([], ["core"])]
WRITTEN = [path.stem for path in (ROOT / "examples/submissions/complete/assignment").glob("*.py")]
SMALL = [ROOT / "examples/submissions" / name for name in ("ends_python", "zipped.zip")]
OPTIONS = ("--kata", "same_storage", "--jobs", 2, "--examples", 2)
NOT_STARTED = dict.fromkeys(KATAS, "not_started")
DONE, LEFT_OUT = dict.fromkeys(WRITTEN, "done"), {"adagrad": "not_started", "checkpoint": "not_started"}
FIRST_THREE = {"same_storage": "done", "get_batch": "done", "linear": "done"}
STARTED = {
    "complete": DONE,
    "half_done": FIRST_THREE | {"get_batch": "wrong", "cruncher": "done"},
    "subtly_wrong": dict.fromkeys(WRITTEN, "wrong") | FIRST_THREE,
    "crashes_at_import": {"same_storage": "done", "linear": "crashed", "cruncher": "done", "sgd": "done"}
    | {"adagrad": "crashed"},
    "never_ends": FIRST_THREE | {"get_batch": "timed_out"},
    "ends_python": {"same_storage": "crashed", "linear": "done"},
    "fills_memory": {"same_storage": "crashed", "linear": "done"},
    "writes_results": {"same_storage": "wrong", "linear": "done"},
    "unusual_but_right": DONE | LEFT_OUT,
    "zipped": FIRST_THREE | {"cruncher": "done"},
}
STATUSES = {name: NOT_STARTED | statuses for name, statuses in STARTED.items()}


@dataclass(frozen=True)
class GradedClass:
    """The results of grading several examples in one run."""

    directory: Path
    run: Run

    def read_result(self, submission: str) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.directory / submission / "result.json").read_text())
        return loaded

    def read_statuses(self, submission: str) -> dict[str, str]:
        return {kata["kata"]: kata["status"] for kata in self.read_result(submission)["katas"]}


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> GradedClass:
    """Grade all examples in parallel with the strongest isolation available on this machine."""
    directory = tmp_path_factory.mktemp("class")
    return GradedClass(directory, grade(*EXAMPLES, "--out", directory, "--jobs", 2, "--examples", FEW))


@pytest.fixture(scope="module")
def small_class(tmp_path_factory: pytest.TempPathFactory) -> GradedClass:
    """Grade one kata of an honest and of a hostile example, which is quick."""
    directory = tmp_path_factory.mktemp("small")
    return GradedClass(directory, grade(*SMALL, "--out", directory, *OPTIONS))


@pytest.mark.sample
@pytest.mark.usefixtures("needs_bwrap")
def test_hostile_example_leaves_the_honest_one_its_points(small_class: GradedClass) -> None:
    assert small_class.run.code == 0, small_class.run.err
    rows = csv.DictReader((small_class.directory / "gradebook.csv").read_text("utf-8").splitlines())
    statuses = {row["submission"]: (float(row["score"]), row["same_storage_status"]) for row in rows}
    most = course().katas["same_storage"].max_score
    assert statuses == {"zipped": (most, "done"), "ends_python": (0, "crashed")}
    result = small_class.read_result("zipped")
    assert result["schema"] == "torchkata/result/v1"
    assert (result["submission"], result["device"], result["performance"]) == ("zipped", "none", [])
    assert (result["seed"], result["examples"], result["isolation"]) == (0, 2, "bwrap")
    assert {"python", "torch", "hypothesis"} <= set(result["environment"])
    assert (small_class.run.err, result["environment"]["workers can"]) == ("", ""), "the self-test found a violation"


@pytest.mark.sample
def test_rerun_grades_nothing_and_lists_stored_results(small_class: GradedClass) -> None:
    folder = small_class.directory
    stored = folder / "zipped/result.json"
    before = stored.stat().st_mtime_ns
    done = call_grader("grade", *SMALL, "--out", folder, *OPTIONS, "--json")
    listed = json.loads(done.out)
    assert (done.code, listed["exit_code"], listed["schema"], listed["problems"]) == (0, 0, "torchkata/grade/v1", [])
    assert "2 of 2 were already graded" in done.err
    assert stored.stat().st_mtime_ns == before
    assert {one["submission"] for one in listed["submissions"]} == {"ends_python", "zipped"}
    for one in listed["submissions"]:
        assert one["graded_before"]
        statuses = {kata["kata"]: kata["status"] for kata in one["katas"]}
        assert statuses == small_class.read_statuses(one["submission"])
        assert json.loads(Path(one["result"]).read_text())["score"] == one["score"] <= one["max_score"]
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    results = {f"{path.name.split('.')[0]}/{file}.json" for path in SMALL for file in ("result", "hand_in")}
    assert left == {"gradebook.csv", ".seed", *results}


@pytest.mark.sample
def test_graded_class_is_reported_and_exported(small_class: GradedClass, tmp_path: Path) -> None:
    folder = shutil.copytree(small_class.directory, tmp_path / "results")
    assert call_grader("report", folder, "--out", tmp_path / "pages").code == 0
    for name, words in (("zipped", "done"), ("ends_python", "your code exited Python (exit code 0)")):
        assert name in (folder / "report.html").read_text("utf-8")
        assert words in (tmp_path / f"pages/{name}/feedback.html").read_text("utf-8")
    assert call_grader("export", folder, "--format", "gradescope", "--out", tmp_path / "scope").code == 0
    report = json.loads((tmp_path / "scope/zipped.json").read_text())
    assert report["score"] == small_class.read_result("zipped")["score"]
    kept = load_submission(folder, "ends_python", small_class.read_result("ends_python")["hand_in"])
    assert kept is not None
    graded = {path.name: path.read_text() for path in (ROOT / "examples/submissions/ends_python").rglob("*.py")}
    assert {name: one.text for name, one in kept.files.items()} == graded


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_result_is_independent_of_other_submissions(small_class: GradedClass, path: Path, tmp_path: Path) -> None:
    def remove_times(result: dict[str, Any]) -> dict[str, Any]:
        tests = {test["name"]: test | {"seconds": 0} for kata in result["katas"] for test in kata["tests"]}
        return result | {"seconds": 0, "katas": tests}

    assert grade(path, "--out", tmp_path, *OPTIONS).code == 0
    alone = json.loads((tmp_path / path.stem / "result.json").read_text())
    assert remove_times(alone) == remove_times(small_class.read_result(path.stem))


@pytest.mark.parametrize("submission", STATUSES)
def test_each_example_submission_gets_expected_status_and_score(graded_class: GradedClass, submission: str) -> None:
    assert graded_class.read_statuses(submission) == STATUSES[submission], "the core track is the default"
    result = graded_class.read_result(submission)
    tests = [test for kata in result["katas"] for test in kata["tests"]]
    assert result["score"] == sum(test["max_score"] for test in tests if test["outcome"] == "passed")
    assert result["max_score"] == 100 == sum(test["max_score"] for test in tests)
    assert all(test["message"] for test in tests if test["outcome"] != "passed")


def test_grade_exits_0_and_shows_every_submission(graded_class: GradedClass) -> None:
    out = graded_class.run.out
    assert graded_class.run.code == 0, graded_class.run.err
    assert {path.name.split(".")[0] for path in EXAMPLES} == set(STATUSES)
    assert [words for words in (*STATUSES, "100/100", str(graded_class.directory)) if words not in out] == []


@pytest.mark.parametrize(
    ("submission", "kata", "words"),
    [
        ("ends_python", "same_storage", "your code exited Python (exit code 0)"),
        ("fills_memory", "same_storage", "MemoryError"),
        ("never_ends", "get_batch", "  timed out your code "),
        ("crashes_at_import", "linear", "linear.py, line 12:  self.weight = "),
        ("ends_python", "cruncher", "cruncher.py is missing"),
    ],
)
def test_failed_test_message_explains_failure(
    graded_class: GradedClass, submission: str, kata: str, words: str
) -> None:
    tests = next(k for k in graded_class.read_result(submission)["katas"] if k["kata"] == kata)["tests"]
    assert words in next(test["message"] for test in tests if test["outcome"] != "passed")


def test_pasted_oracle_earns_at_most_third_of_points(tmp_path: Path) -> None:
    kata = course().katas["measure_step"]
    (pasted,) = (entry.source for entry in zoo.load_wrong(kata) if entry.name == "pasted_oracle")
    options = ("--kata", kata.name, "--out", tmp_path / "results", "--examples", FEW)
    assert grade(write_assignment(tmp_path / "ada", measure_step=pasted), *options).code == 0
    result = read(tmp_path / "results/ada/result.json")
    assert 0 < result.score <= result.max_score / 3
