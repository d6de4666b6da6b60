"""`grader report` and `grader diff`, on stored results; what killed runs leave is cleared away."""

import csv
import fcntl
import json
import os
import tempfile
import time
from pathlib import Path

import pytest

from grader.base import cleanup
from grader.results import result
from grader.results.result import Finding, KataResult, Result
from grader.tests.conftest import Run, ask
from torchkata.course import course
from torchkata.result import Outcome, Status, TestResult

TESTS = list(course().katas["linear"].points)


def store(
    directory: Path, submission: str, status: Status, *outcomes: Outcome, findings: list[Finding] | None = None
) -> None:
    """A result of `linear` whose first tests, worth a point each, ended so."""
    tests = [
        TestResult(name, outcome, float(outcome == "passed"), 1.0, "a message")
        for name, outcome in zip(TESTS, outcomes, strict=False)
    ]
    score = sum(test.score for test in tests)
    kata = KataResult("linear", status, score, float(len(tests)), tuple(tests))
    made = Result(submission, score, 2.0, "sha256:", 0, 100, "bwrap", time.time(), {}, [kata], findings=findings or [])
    result.write(made, directory)


def diff(*arguments: Path | str) -> Run:
    """`grader diff OLD NEW`."""
    return ask("diff", *arguments)


def test_a_report_rebuilds_the_gradebook_and_shows_class_and_findings(tmp_path: Path) -> None:
    store(tmp_path, "ben", "done", "passed", "passed", findings=[Finding("linear", 7, "torch.nn.Linear: [look]")])
    store(tmp_path, "ada", "wrong", "passed", "failed")
    (tmp_path / "gradebook.csv").write_text("old")
    done = ask("report", tmp_path)
    assert (done.code, done.err) == (0, "")
    rows = list(csv.DictReader((tmp_path / "gradebook.csv").read_text().splitlines()))
    assert [(row["submission"], row["score"], row["findings"]) for row in rows] == [
        ("ada", "1.0", "0"),
        ("ben", "2.0", "1"),
    ]
    assert "1/2" in done.out
    assert "  ben  linear.py, line 7: torch.nn.Linear: [look]" in done.out


def test_report_skips_and_names_files_that_are_no_results(tmp_path: Path) -> None:
    store(tmp_path, "ada", "done", "passed")
    for name, text in (("broken", '{"schema": "tor'), ("foreign", '{"schema": "other/v1"}'), ("binary", "\0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text(text)
    (tmp_path / "copied").mkdir()
    (tmp_path / "copied/result.json").write_bytes((tmp_path / "ada/result.json").read_bytes())
    for done in (ask("report", tmp_path), diff(tmp_path, tmp_path)):
        assert done.code == 2
        lines = done.err.splitlines()
        assert [line.partition(": ")[2].partition(": ")[0] for line in lines] == [
            str(tmp_path / name / "result.json") for name in ("binary", "broken", "copied", "foreign")
        ]
        assert "not a torchkata result" in lines[0]
        assert "contains the result of 'ada'" in lines[2]
    assert (tmp_path / "gradebook.csv").read_text().count("\n") == 2


def test_a_diff_names_what_changed_and_nothing_else(tmp_path: Path) -> None:
    old, new, table = tmp_path / "old", tmp_path / "new", tmp_path / "changes.csv"
    for directory in (old, new):
        store(directory, "same", "wrong", "passed", "failed")
    store(old, "ada", "wrong", "passed", "failed")
    store(new, "ada", "crashed", "crashed", "passed")
    store(old, "gone", "done", "passed")
    store(new, "=new", "done", "passed", "passed")
    done = diff(old, new, "--csv", table)
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
    told = diff(old, new, "--json")
    found = json.loads(told.out)
    assert (told.code, told.err) == (0, done.out), "words for people are the same, beside it"
    assert [found.pop(name) for name in ("schema", "exit_code", "submissions", "differ", "problems")] == [
        *("torchkata/diff/v1", 0, 4, 3),
        [],
    ]
    assert [change["submission"] for change in found["changes"]] == ["=new", "ada", "ada", "gone"]
    assert found["changes"][0] == {
        **{"submission": "=new", "kata": "", "points_before": None, "points_after": 2.0},
        **{"test": "", "outcome_before": "not there", "outcome_after": "graded"},
    }


def test_half_written_files_are_removed_unless_a_live_process_writes_them(tmp_path: Path) -> None:
    store(tmp_path, "ada", "done", "passed")
    dead = [tmp_path / "ada/.result.json.1.tmp", tmp_path / ".gradebook.csv.1.tmp"]
    alive, foreign = tmp_path / "ada/.result.json.2.tmp", tmp_path / "notes.tmp"
    for path in (*dead, alive, foreign):
        path.write_text("{")
    with alive.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        cleanup.clear_half_written(tmp_path)
    assert not any(path.exists() for path in dead)
    assert alive.exists()
    assert foreign.exists()
    assert (tmp_path / "ada/result.json").exists()


def test_the_runtime_directory_of_a_dead_grader_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ("dead", "alive", "young")
    dead, alive, young = (tmp_path / f"torchkata-runtime-{name}" for name in names)
    for path in (dead, alive, young):
        (path / "kata").mkdir(parents=True)
        if path != young:
            os.utime(path, (0, 0))
    with cleanup.in_use(alive):
        cleanup.clear_runtimes()
    assert [path.exists() for path in (dead, alive, young)] == [False, True, True]
