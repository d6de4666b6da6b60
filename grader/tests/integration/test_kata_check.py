"""Tests of `kata check`, which shows the points on the student's machine and how the grader differs."""

import json
import re
from pathlib import Path

import pytest

from grader.tests.conftest import Run, call_grader, find_row, run, run_kata
from grader.tests.support.submissions import PRIMES

SUBMISSIONS = ("half_done", "subtly_wrong")


@pytest.fixture
def primes(tmp_path: Path) -> Path:
    assert call_grader("--course", PRIMES, "release", tmp_path / "primes").code == 0
    return tmp_path / "primes"


def copy_submission(handout: Path, submission: str) -> None:
    """Replace the stubs with a submission."""
    for path in (PRIMES / "submissions" / submission).glob("*.py"):
        (handout / "assignment" / path.name).write_bytes(path.read_bytes())


def parse_points(done: Run) -> tuple[float, float]:
    """Return the earned points and the maximum points."""
    found = re.search(r"^([\d.]+) of ([\d.]+) points$", done.out, re.MULTILINE)
    assert found is not None, done.out + done.err
    return float(found[1]), float(found[2])


def test_check_computes_same_points_as_the_grader(primes: Path, tmp_path: Path) -> None:
    given = [str(PRIMES / "submissions" / name) for name in SUBMISSIONS]
    graded = run("grader", "--course", str(PRIMES), "grade", *given, "--out", str(tmp_path / "out"))
    assert graded.code == 0, graded.err
    for name in SUBMISSIONS:
        copy_submission(primes, name)
        done = run_kata(primes, "check")
        result = json.loads((tmp_path / "out" / name / "result.json").read_text())
        earned, most = parse_points(done)
        assert (most, done.code) == (result["max_score"], earned < most) == (100, earned < 100)
        rows = [re.search(r" ([\d.]+)/[\d.]+ points", find_row(done.out, kata)) for kata in ("sieve", "factorise")]
        assert sum(float(row[1]) for row in rows if row) == earned
        replaced = "(builds on sieve: do that first)" in done.out
        assert earned <= result["score"] if replaced else earned == result["score"]


def test_check_says_how_the_grader_differs(primes: Path) -> None:
    text = " ".join(run_kata(primes, "check").out.split("The number of inputs")[1].split())
    for fact in (
        "and the time limit of a call are those of the grader",
        "other inputs",
        "another machine",
        "only the files that `kata export` puts into the zip file",
        "sandbox refuses processes, the network and the course's files, and limits memory (256 MiB)",
        "all calls of a test (10 s) and of a kata (20 s)",
        "exits Python or can't be interrupted",
        "replaces an unfinished kata with working code",
    ):
        assert fact in text


def test_check_tests_only_named_katas(primes: Path) -> None:
    copy_submission(primes, "complete")
    done = run_kata(primes, "check", "sieve")
    assert (done.code, parse_points(done)) == (0, (50, 50))
    assert "factorise" not in done.out
    refused = run_kata(primes, "check", "seive")
    assert (refused.code, refused.err) == (2, "kata: there is no kata 'seive'; did you mean sieve?\n")


def test_check_stops_call_that_takes_too_long(primes: Path) -> None:
    project = primes / "pyproject.toml"
    limits = re.sub(r"(?m)^(wall_factor = ).*$", r"\g<1>1000", project.read_text("utf-8"))
    project.write_text(re.sub(r"(?m)^call_seconds = .*$", "call_seconds = 0.3", limits), "utf-8")
    (primes / "assignment/sieve.py").write_text("def sieve(n):\n    while True:\n        pass\n")
    done = run_kata(primes, "check", "sieve")
    assert "your code used more than 0.3 seconds of CPU time" in done.out
    assert "sieve.py, line 3:  pass" in done.out or "sieve.py, line 2:  while True:" in done.out
