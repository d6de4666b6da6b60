"""Grading the example submissions: each gets the right status, also in the same run as hostile ones."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from grader.results.source import load_submission
from grader.tests import ROOT
from grader.tests.conftest import EXAMPLES, FEW, Class, ask, grade
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
def test_submission_kinds_get_their_status(graded_class: Class, submission: str) -> None:
    assert graded_class.statuses(submission) == HONEST[submission]


def test_grade_exits_0_and_shows_every_submission(graded_class: Class) -> None:
    out = graded_class.run.out
    assert graded_class.run.code == 0, graded_class.run.err
    assert {path.name.split(".")[0] for path in EXAMPLES} == set(HONEST)
    assert [words for words in (*HONEST, "100/100", str(graded_class.directory)) if words not in out] == []


def test_score_is_sum_of_passed_tests(graded_class: Class) -> None:
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
def test_result_is_same_in_class_and_alone(graded_class: Class, submission: str, tmp_path: Path) -> None:
    alone = grade(ROOT / "examples/submissions" / submission, "--out", tmp_path, "--examples", FEW)
    assert alone.code == 0
    assert untimed(json.loads((tmp_path / submission / "result.json").read_text())) == untimed(
        graded_class.result(submission)
    )


def untimed(result: dict[str, Any]) -> dict[str, Any]:
    tests = {test["name"]: test | {"seconds": 0} for kata in result["katas"] for test in kata["tests"]}
    return result | {"seconds": 0, "katas": tests}


@pytest.mark.usefixtures("needs_bwrap")
def test_result_records_options_and_versions(graded_class: Class) -> None:
    result = graded_class.result("complete")
    assert result["schema"] == "torchkata/result/v1"
    assert (result["submission"], result["device"], result["performance"]) == ("complete", "none", [])
    assert (result["seed"], result["examples"], result["isolation"]) == (0, FEW, "bwrap")
    assert result["fingerprint"].startswith("sha256:")
    assert {"python", "torch", "hypothesis"} <= set(result["environment"])
    assert (graded_class.run.err, result["environment"]["workers can"]) == ("", ""), "the sandbox has been tested"


def test_gradebook_has_a_line_per_submission(graded_class: Class) -> None:
    with (graded_class.directory / "gradebook.csv").open(newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(HONEST)
    assert [name for name in rows["complete"] if name in course().katas] == KATAS, "the core track, as nobody said more"
    assert float(rows["complete"]["score"]) == 100
    assert rows["never_ends"]["get_batch_status"] == "timed_out"
    assert float(rows["half_done"]["linear"]) == course().katas["linear"].max_score


def test_rerun_grades_nothing_and_lists_stored_results(graded_class: Class) -> None:
    stored = graded_class.directory / "half_done/result.json"
    before = stored.stat().st_mtime_ns
    done = ask("grade", *EXAMPLES, "--out", graded_class.directory, *OPTIONS, "--json")
    listed = json.loads(done.out)
    assert (done.code, listed["exit_code"], listed["schema"], listed["problems"]) == (0, 0, "torchkata/grade/v1", [])
    assert "10 of 10 had been graded before" in done.err
    assert stored.stat().st_mtime_ns == before
    assert {one["submission"] for one in listed["submissions"]} == set(HONEST)
    for one in listed["submissions"]:
        assert one["graded_before"]
        assert {kata["kata"]: kata["status"] for kata in one["katas"]} == HONEST[one["submission"]]
        assert json.loads(Path(one["result"]).read_text())["score"] == one["score"] <= one["max_score"] == 100
    refused = ask("grade", graded_class.directory / "nothing", "--out", graded_class.directory, *OPTIONS, "--json")
    assert (refused.code, refused.out) == (2, "")


def test_grading_leaves_only_results_behind(graded_class: Class) -> None:
    folder = graded_class.directory
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert left == {
        "gradebook.csv",
        ".seed",
        *(f"{name}/{file}.json" for name in HONEST for file in ("result", "hand_in")),
    }


def test_graded_files_are_stored_with_the_result(graded_class: Class) -> None:
    found = graded_class.result("subtly_wrong")
    kept = load_submission(graded_class.directory, "subtly_wrong", found["fingerprint"])
    assert kept is not None
    graded = {path.name: path.read_text() for path in (ROOT / "examples/submissions/subtly_wrong").iterdir()}
    assert {name: one.text for name, one in kept.files.items()} == graded


def test_failed_test_explains_itself_to_the_student(graded_class: Class) -> None:
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
