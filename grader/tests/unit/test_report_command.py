"""Tests of `grader report` and `grader diff` on stored results, and of cleaning up after killed processes."""

import csv
import fcntl
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from grader.base import files
from grader.pipeline.reference import UNUSED, clear_unused
from grader.results import result
from grader.results.result import Finding, KataResult, Result
from grader.tests import ROOT
from grader.tests.conftest import call_grader
from torchkata.course import course
from torchkata.result import EARNED, Outcome, Status, TestResult

TESTS = list(course().katas["linear"].points)


def store(
    directory: Path, submission: str, status: Status, *outcomes: Outcome, findings: list[Finding] | None = None
) -> None:
    """Store a result of `linear` whose first tests, worth one point each, have the given outcomes."""
    tests = [
        TestResult(name, outcome, float(outcome in EARNED), 1.0, "a message")
        for name, outcome in zip(TESTS, outcomes, strict=False)
    ]
    score = sum(test.score for test in tests)
    kata = KataResult("linear", status, score, float(len(tests)), tuple(tests))
    made = Result(submission, score, 2.0, 0, 100, "bwrap", time.time(), {}, [kata], findings=findings or [])
    result.write(made, directory)


def test_report_joins_results_of_several_directories(tmp_path: Path) -> None:
    """The page on Kubernetes has the commands that copy the results of all pods."""
    pods = tmp_path / "pods"
    findings = [Finding("linear", 7, "torch.nn.Linear: [look]")]
    store(pods / "0", "ben", "done", "passed", "passed", findings=findings)
    store(pods / "1", "ada", "wrong", "passed", "failed")
    for pod in pods.iterdir():
        (pod / "gradebook.csv").write_text("only of this pod")
    (shown,) = re.findall(
        "^(mkdir all .*) && grader report all$", (ROOT / "docs/operators.md").read_text(), re.MULTILINE
    )
    subprocess.run(shown.replace("/results", str(pods)), shell=True, check=True, cwd=tmp_path)
    done = call_grader("report", tmp_path / "all")
    assert (done.code, done.err) == (0, "")
    rows = csv.DictReader((tmp_path / "all/gradebook.csv").read_text().splitlines())
    cells = [(row["submission"], row["score"], row["findings"]) for row in rows]
    assert cells == [("ada", "1.0", "0"), ("ben", "2.0", "1")]
    assert "1/2" in done.out
    assert "  ben  linear.py, line 7: torch.nn.Linear: [look]" in done.out


def test_report_names_files_that_are_not_results(tmp_path: Path) -> None:
    store(tmp_path, "ada", "done", "passed")
    for name, text in (("broken", '{"schema": "tor'), ("foreign", '{"schema": "other/v1"}'), ("binary", "\0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text(text)
    (tmp_path / "copied").mkdir()
    (tmp_path / "copied/result.json").write_bytes((tmp_path / "ada/result.json").read_bytes())
    for done in (call_grader("report", tmp_path), call_grader("diff", tmp_path, tmp_path)):
        lines = done.err.splitlines()
        named = [line.split(": ")[1] for line in lines]
        paths = [str(tmp_path / name / "result.json") for name in ("binary", "broken", "copied", "foreign")]
        assert (done.code, named) == (2, paths)
        assert "not a torchkata result" in lines[0]
        assert "contains the result of 'ada'" in lines[2]
    assert (tmp_path / "gradebook.csv").read_text().count("\n") == 2


def test_diff_shows_only_what_changed(tmp_path: Path) -> None:
    old, new, table = tmp_path / "old", tmp_path / "new", tmp_path / "changes.csv"
    for directory in (old, new):
        store(directory, "same", "wrong", "passed", "failed")
    store(old, "ada", "wrong", "passed", "failed")
    store(new, "ada", "crashed", "crashed", "passed")
    store(old, "gone", "done", "passed")
    store(new, "=new", "done", "passed", "passed")
    done = call_grader("diff", old, new, "--out", table)
    assert (done.code, done.err) == (0, "")
    assert "3 of 4 submissions differ" in done.out
    assert "same" not in done.out
    assert list(csv.reader(table.read_text().splitlines())) == [
        ["submission", "kata", "points_before", "points_after", "test", "outcome_before", "outcome_after"],
        ["'=new", "", "", "2.0", "", "not there", "graded"],
        ["ada", "linear", "1.0", "1.0", TESTS[0], "passed", "crashed"],
        ["ada", "linear", "1.0", "1.0", TESTS[1], "failed", "passed"],
        ["gone", "", "1.0", "", "", "graded", "not there"],
    ]
    told = call_grader("diff", old, new, "--json")
    found = json.loads(told.out)
    assert (told.code, told.err) == (0, done.out), "with --json, the text must go to stderr"
    changes = found.pop("changes")
    counts = {"exit_code": 0, "submissions": 4, "differ": 3, "problems": []}
    assert found == {"schema": "torchkata/diff/v1", **counts}
    assert [change["submission"] for change in changes] == ["=new", "ada", "ada", "gone"]
    assert changes[0] == {
        **{"submission": "=new", "kata": "", "points_before": None, "points_after": 2.0},
        **{"test": "", "outcome_before": "not there", "outcome_after": "graded"},
    }


def test_unused_temporary_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path, "ada", "done", "passed")
    dead = [tmp_path / "ada/.result.json.1.tmp", tmp_path / ".gradebook.csv.1.tmp"]
    alive, foreign = tmp_path / "ada/.result.json.2.tmp", tmp_path / "notes.tmp"
    for path in (*dead, alive, foreign):
        path.write_text("{")
    with alive.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        files.clear_half_written(tmp_path)
    assert not any(path.exists() for path in dead)
    assert all(path.exists() for path in (alive, foreign, tmp_path / "ada/result.json"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, used, _ = runtimes = [tmp_path / f"torchkata-runtime-{name}" for name in ("old", "used", "young")]
    for path in runtimes:
        (path / "kata").mkdir(parents=True)
    for path in (old, used):
        os.utime(path, (0, 0))
    with files.in_use(used):
        files.clear_runtimes()
    assert [path.exists() for path in runtimes] == [False, True, True]
    marks = tmp_path / "marks"
    marks.mkdir()
    for name, age in (("recent", UNUSED / 2), ("old", UNUSED * 2)):
        (marks / name).touch()
        os.utime(marks / name, (time.time() - age,) * 2)
    clear_unused(marks)
    assert [mark.name for mark in marks.iterdir()] == ["recent"]
