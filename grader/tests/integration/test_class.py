"""Grading the examples: every kind of submission gets its honest status, side by side with the hostile ones."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from grader.pipeline.queue import Queue
from grader.pipeline.submission_ids import assign_ids
from grader.results.source import load_submission
from grader.tests import ROOT
from grader.tests.conftest import EXAMPLES, FEW, Class, ask, grade
from grader.tests.support.submissions import PRIMES, SIEVE, handed_in, options
from torchkata.course import course

KATAS = [kata.name for kata in course().choose([], ["core"])]
WRITTEN = [path.stem for path in (ROOT / "examples/submissions/complete/assignment").glob("*.py")]
OPTIONS = ("--jobs", 2, "--examples", FEW)
NOT_STARTED = dict.fromkeys(KATAS, "not_started")
HONEST = {
    "complete": NOT_STARTED | dict.fromkeys(WRITTEN, "done"),
    "half_done": NOT_STARTED | {"same_storage": "done", "get_batch": "wrong", "linear": "done", "cruncher": "done"},
    "subtly_wrong": NOT_STARTED
    | dict.fromkeys(WRITTEN, "wrong")
    | {"same_storage": "done", "get_batch": "done", "linear": "done"},
    "crashes_at_import": NOT_STARTED
    | {"same_storage": "done", "linear": "crashed", "cruncher": "done", "sgd": "done", "adagrad": "crashed"},
    "never_ends": NOT_STARTED | {"same_storage": "done", "get_batch": "timed_out", "linear": "done"},
    "ends_python": NOT_STARTED | {"same_storage": "crashed", "linear": "done"},
    "fills_memory": NOT_STARTED | {"same_storage": "crashed", "linear": "done"},
    "writes_results": NOT_STARTED | {"same_storage": "wrong", "linear": "done"},
    "unusual_but_right": NOT_STARTED
    | dict.fromkeys(WRITTEN, "done")
    | {"adagrad": "not_started", "checkpoint": "not_started"},
    "zipped": NOT_STARTED | dict.fromkeys(["same_storage", "get_batch", "linear", "cruncher"], "done"),
}


@pytest.mark.parametrize("submission", HONEST)
def test_every_kind_of_submission_gets_the_status_it_deserves(graded_class: Class, submission: str) -> None:
    assert graded_class.statuses(submission) == HONEST[submission]


def test_grade_exits_with_0_whatever_the_scores_are(graded_class: Class) -> None:
    assert graded_class.run.code == 0, graded_class.run.err
    assert {path.name.split(".")[0] for path in EXAMPLES} == set(HONEST)


def test_a_score_is_the_sum_of_the_points_of_the_tests_that_passed(graded_class: Class) -> None:
    for submission in HONEST:
        result = graded_class.result(submission)
        tests = [test for kata in result["katas"] for test in kata["tests"]]
        assert result["score"] == sum(test["max_score"] for test in tests if test["outcome"] == "passed")
        assert result["max_score"] == 100 == sum(test["max_score"] for test in tests)
        assert all(test["message"] for test in tests if test["outcome"] != "passed")


@pytest.mark.parametrize(
    "submission",
    ["ends_python", *(pytest.param(name, marks=pytest.mark.timing) for name in ("complete", "writes_results"))],
)
def test_a_submission_gets_the_same_result_in_a_class_as_alone(
    graded_class: Class, submission: str, tmp_path: Path
) -> None:
    alone = grade(ROOT / "examples/submissions" / submission, "--out", tmp_path, "--examples", FEW)
    assert alone.code == 0
    assert untimed(json.loads((tmp_path / submission / "result.json").read_text())) == untimed(
        graded_class.result(submission)
    )


def untimed(result: dict[str, Any]) -> dict[str, Any]:
    """A result without its seconds."""
    tests = {test["name"]: test | {"seconds": 0} for kata in result["katas"] for test in kata["tests"]}
    return result | {"seconds": 0, "katas": tests}


def test_a_result_records_the_options_and_versions_that_produced_it(graded_class: Class) -> None:
    result = graded_class.result("complete")
    assert result["schema"] == "torchkata/result/v1"
    assert result["submission"] == "complete"
    assert (result["seed"], result["examples"], result["device"], result["performance"]) == (0, FEW, "none", [])
    assert result["isolation"] in ("bwrap", "none")
    assert result["fingerprint"].startswith("sha256:")
    assert {"python", "torch", "hypothesis"} <= set(result["environment"])


def test_the_gradebook_has_a_line_for_each_submission(graded_class: Class) -> None:
    with (graded_class.directory / "gradebook.csv").open(newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(HONEST)
    assert [name for name in rows["complete"] if name in course().katas] == KATAS, "the core track, as nobody said more"
    assert float(rows["complete"]["score"]) == 100
    assert rows["never_ends"]["get_batch_status"] == "timed_out"
    assert float(rows["half_done"]["linear"]) == course().katas["linear"].max_score


def test_a_submission_with_a_stored_result_is_not_graded_again(graded_class: Class) -> None:
    stored = graded_class.directory / "half_done/result.json"
    before = stored.stat().st_mtime_ns
    again = ask("grade", *EXAMPLES, "--out", graded_class.directory, *OPTIONS)
    assert again.code == 0, again.err
    assert "10 of 10 had been graded before" in again.out
    assert stored.stat().st_mtime_ns == before


def test_a_program_reads_what_grading_came_to_on_standard_output(graded_class: Class) -> None:
    done = ask("grade", *EXAMPLES, "--out", graded_class.directory, *OPTIONS, "--json")
    told = json.loads(done.out)
    assert (done.code, told["exit_code"], told["schema"], told["problems"]) == (0, 0, "torchkata/grade/v1", [])
    assert "10 of 10 had been graded before" in done.err
    assert {one["submission"] for one in told["submissions"]} == set(HONEST)
    for one in told["submissions"]:
        assert one["graded_before"]
        assert {kata["kata"]: kata["status"] for kata in one["katas"]} == HONEST[one["submission"]]
        assert json.loads(Path(one["result"]).read_text())["score"] == one["score"] <= one["max_score"] == 100
    refused = ask("grade", graded_class.directory / "nothing", "--out", graded_class.directory, *OPTIONS, "--json")
    assert (refused.code, refused.out) == (2, "")


@pytest.mark.parametrize(
    ("changes", "left"),
    [({}, 0), ({"force": True}, 10), ({"seed": 1}, 10), ({"examples": FEW + 1}, 10), ({"katas": ("linear",)}, 10)],
    ids=str,
)
def test_a_submission_is_graded_again_when_the_options_differ(
    graded_class: Class, changes: dict[str, Any], left: int
) -> None:
    asked: dict[str, Any] = {"examples": FEW, "isolation": "auto", "katas": tuple(KATAS)}
    chosen = options(graded_class.directory, **(asked | changes))
    katas = tuple(course().katas[name] for name in chosen.grading.katas)
    assert len(list(Queue(*assign_ids(EXAMPLES), katas, chosen).to_grade())) == left


def test_grading_leaves_no_files_behind_but_the_results(graded_class: Class) -> None:
    left = {
        path.relative_to(graded_class.directory).as_posix()
        for path in graded_class.directory.rglob("*")
        if path.is_file()
    }
    assert left == {
        "gradebook.csv",
        ".seed",
        *(f"{name}/{file}.json" for name in HONEST for file in ("result", "hand_in")),
    }


def test_the_files_that_were_graded_are_kept_beside_the_result(graded_class: Class) -> None:
    found = graded_class.result("subtly_wrong")
    kept = load_submission(graded_class.directory, "subtly_wrong", found["fingerprint"])
    assert kept is not None
    folder = ROOT / "examples/submissions/subtly_wrong"
    assert {name: one.text for name, one in kept.files.items()} == {
        path.name: path.read_text() for path in folder.iterdir()
    }


def test_the_class_table_shows_every_submission_with_its_points(graded_class: Class) -> None:
    out = graded_class.run.out
    assert all(submission in out for submission in HONEST)
    assert "100/100" in out
    assert str(graded_class.directory) in out


def test_a_failed_test_tells_the_student_what_went_wrong(graded_class: Class) -> None:
    def message(submission: str, kata: str) -> str:
        tests = next(k for k in graded_class.result(submission)["katas"] if k["kata"] == kata)["tests"]
        return str(next(test["message"] for test in tests if test["outcome"] != "passed"))

    assert "your code exited Python (exit code 0)" in message("ends_python", "same_storage")
    assert "MemoryError" in message("fills_memory", "same_storage")
    assert "no answer within 5 seconds" in message("never_ends", "get_batch")
    syntax = message("crashes_at_import", "linear")
    assert "SyntaxError: '(' was never closed" in syntax
    assert "linear.py, line 12:  self.weight = " in syntax
    assert "  input  " not in syntax
    assert "expected shape [1], got []" in message("subtly_wrong", "cruncher")
    assert "cruncher.py is missing" in message("ends_python", "cruncher")


def test_submissions_with_odd_names_are_graded_under_these_names(tmp_path: Path) -> None:
    names = ['=1+1,"x"', "[red]a b", "Zoë"]
    for name in names:
        handed_in(tmp_path, SIEVE, name, kata="sieve")
    handed_in(tmp_path, SIEVE, "new\nline", kata="sieve")
    paths = [tmp_path / name for name in [*names, "new\nline"]]
    done = grade(*paths, "--out", tmp_path / "out", "--kata", "sieve", "--examples", 3, course=PRIMES)
    assert done.code == 2
    line = f"grader: {str(paths[-1])!r}: its name has unprintable characters; rename it\n"
    assert done.err == line
    with (tmp_path / "out/gradebook.csv").open(newline="") as file:
        names_read = [row["submission"] for row in csv.DictReader(file)]
    assert names_read[:3] == ['\'=1+1,"x"', "Zoë", "[red]a b"]
    assert names_read[3].startswith("refused-new_line-")
    assert all(name in done.out for name in names)


@pytest.mark.usefixtures("needs_bwrap")
def test_a_result_stores_the_isolation_and_what_the_sandbox_self_test_found(graded_class: Class) -> None:
    stored = graded_class.result("complete")
    assert (graded_class.run.err, stored["isolation"], stored["environment"]["workers can"]) == ("", "bwrap", "")
