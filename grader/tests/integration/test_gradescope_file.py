"""The command that the Gradescope package runs writes its file after every test, even if the run is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from grader.tests import ROOT
from grader.tests.conftest import call_grader, run
from grader.tests.support.platforms import parse_gradescope
from grader.tests.support.submissions import PRIMES
from torchkata.course import course

COMPLETE = ROOT / "examples/submissions/complete"


def test_rerun_rewrites_the_gradescope_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    submission = PRIMES / "submissions/complete"
    options = ("--out", tmp_path / "out", "--seed", 0, "--kata", "sieve", "--examples", 5)
    parts = ("--course", PRIMES, "gradescope", submission, path, *options)
    assert run("grader", *map(str, parts)).code == 0
    first = parse_gradescope(path.read_bytes())
    assert (first["score"], first["output"]) == (50, "")
    path.unlink()
    again = call_grader(*parts).out
    assert ("were already graded" in again, "grader report" in again) == (True, False), "the directory is temporary"
    assert parse_gradescope(path.read_bytes()) == first


@pytest.mark.parametrize("enough", [1, pytest.param(12, marks=pytest.mark.timing)])
def test_killed_grader_keeps_points_earned_so_far(tmp_path: Path, enough: int) -> None:
    path = tmp_path / "results.json"
    command = [sys.executable, "-m", "grader", "gradescope", str(COMPLETE), str(path), "--seed", "0"]
    command += ["--out", str(tmp_path / "out"), "--examples", "60"]
    grader = subprocess.Popen(command, cwd=ROOT)
    deadline = time.monotonic() + 500
    ended = 0
    try:
        while ended < enough and time.monotonic() < deadline and grader.poll() is None:
            time.sleep(0.02)
            ended = len(select_finished(parse_gradescope(path.read_bytes()))) if path.exists() else 0
    finally:
        os.kill(grader.pid, signal.SIGKILL)
        grader.wait()
    report = parse_gradescope(path.read_bytes())
    done = select_finished(report)
    core = sum(len(kata.points) for kata in course().katas.values() if kata.track == "core")
    assert enough <= len(done) < len(report["tests"]) == core
    assert report["score"] == sum(test["max_score"] for test in done) > 0
    assert report["output"].startswith("Grading stopped before all tests had run.")
    assert not (tmp_path / "out/complete/result.json").exists()


def select_finished(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tests in the report that have been run."""
    return [test for test in report["tests"] if test["extra_data"]["outcome"] != "not_graded"]
