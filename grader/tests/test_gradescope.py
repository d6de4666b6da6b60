"""Gradescope's `results.json`: by its schema, with every test's visibility, and while tests still run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.formats import gradescope
from grader.tests.conftest import Hide, ask, grade
from grader.tests.made import HOSTILE, result
from kata.catalog import ROOT, catalog

SCHEMA = json.loads((ROOT / "grader/formats/gradescope.schema.json").read_text())
COMPLETE = ROOT / "examples/submissions/complete"


def checked(content: bytes) -> dict[str, Any]:
    """The file, once the schema has accepted it."""
    loaded: dict[str, Any] = json.loads(content)
    jsonschema.Draft202012Validator(SCHEMA).validate(loaded)
    return loaded


def test_every_outcome_has_its_status_and_points() -> None:
    report = checked(gradescope.render(result("why")))
    by_outcome = {test["extra_data"]["outcome"]: test for test in report["tests"]}
    assert by_outcome["passed"]["status"] == "passed"
    assert by_outcome["passed"]["score"] == by_outcome["passed"]["max_score"] > 0
    assert {by_outcome[name]["status"] for name in ("failed", "crashed", "timed_out", "inconclusive")} == {"failed"}
    assert "status" not in by_outcome["not_graded"]
    assert by_outcome["not_graded"]["output"] == "Not run: grading stopped before this test's turn."
    assert report["score"] == sum(test["score"] for test in report["tests"]) == 3
    assert [test["number"] for test in report["tests"][:2]] == ["1.1", "1.2"]


def test_a_students_words_are_text_without_control_characters() -> None:
    report = checked(gradescope.render(result(HOSTILE)))
    assert {report[name] for name in ("output_format", "test_output_format", "test_name_format")} == {"text"}
    output = report["tests"][1]["output"]
    assert "</failure><script>alert(1)</script>" in output
    assert not [c for c in output if c != "\n" and not c.isprintable()]


@pytest.mark.parametrize("visibility", ["after_due_date", "after_published"])
def test_what_the_platform_holds_back_is_whole_when_its_time_comes(hide: Hide, visibility: str) -> None:
    hide(visibility)
    test = checked(gradescope.render(result("linear · claim\n  secret")))["tests"][1]
    assert (test["visibility"], test["output"]) == (visibility, "linear · claim\n  secret")


@pytest.mark.parametrize(("says", "output"), [("nothing", "This test is hidden."), ("all", "a · claim\n  secret")])
def test_a_hidden_test_says_what_it_may(hide: Hide, says: str, output: str) -> None:
    hide("hidden", says)
    test = checked(gradescope.render(result("a · claim\n  secret")))["tests"][1]
    assert (test["visibility"], test["output"]) == ("hidden", output)


def test_the_schema_can_fail() -> None:
    report = json.loads(gradescope.render(result()))
    for wrong in (
        report | {"points": 1},
        report | {"score": "61"},
        report | {"visibility": "public"},
        report | {"tests": [{"name": "x", "status": "wrong"}]},
        {"output": "no score anywhere", "tests": []},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(SCHEMA).validate(wrong)


def test_grade_writes_the_file_and_a_rerun_that_grades_nothing_writes_it_again(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    arguments = (COMPLETE, "--out", tmp_path / "out", "--examples", 5, "--kata", "linear", "--gradescope", path)
    assert grade(*arguments).code == 0
    first = checked(path.read_bytes())
    assert (first["score"], first["output"]) == (catalog().katas["linear"].max_score, "")
    path.unlink()
    assert "had been graded before" in grade(*arguments).out
    assert checked(path.read_bytes()) == first


def test_a_submission_that_can_not_be_read_is_told_why(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    done = ask("grade", tmp_path / "ada", "--out", tmp_path / "out", "--gradescope", tmp_path / "results.json")
    assert done.code == 2
    report = checked((tmp_path / "results.json").read_bytes())
    assert report["score"] == 0
    assert report["output"].startswith("Your submission can't be graded.")
    assert "no kata in it" in report["output"]


def test_calls_that_can_not_work(tmp_path: Path) -> None:
    for arguments, words in (
        ((COMPLETE, COMPLETE.parent / "half_done", "--gradescope", tmp_path / "r"), "takes a single submission"),
        ((COMPLETE, "--gradescope", tmp_path / "no/r"), "there is no directory"),
    ):
        done = ask("grade", *arguments, "--out", tmp_path / "out")
        assert (done.code, len(done.err.strip().splitlines())) == (2, 1), done.err
        assert words in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("enough", [1, 12])
def test_a_grader_killed_midway_leaves_the_marks_so_far(tmp_path: Path, enough: int) -> None:
    path = tmp_path / "results.json"
    command = [sys.executable, "-m", "grader", "grade", str(COMPLETE), "--out", str(tmp_path / "out")]
    command += ["--examples", "60", "--gradescope", str(path), "--quiet"]
    grader = subprocess.Popen(command, cwd=ROOT)
    deadline = time.monotonic() + 120
    ended = 0
    try:
        while ended < enough and time.monotonic() < deadline and grader.poll() is None:
            time.sleep(0.02)
            ended = len(run_tests(checked(path.read_bytes()))) if path.exists() else 0
    finally:
        os.kill(grader.pid, signal.SIGKILL)
        grader.wait()
    report = checked(path.read_bytes())
    done = run_tests(report)
    assert enough <= len(done) < len(report["tests"]) == 69
    assert report["score"] == sum(test["max_score"] for test in done) > 0
    assert report["output"].startswith("Grading stopped before all tests had run.")
    assert not (tmp_path / "out/complete/result.json").exists()


def run_tests(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The tests that had their turn."""
    return [test for test in report["tests"] if test["extra_data"]["outcome"] != "not_graded"]
