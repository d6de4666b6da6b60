"""Tests of `kata check`, which computes on the student's machine the points that the grader would give."""

import json
import re
import sys
from pathlib import Path

import pytest

from grader.tests.conftest import Run, call_grader, run, run_kata
from grader.tests.support.submissions import PRIMES

SUBMISSIONS = ("half_done", "subtly_wrong")
ENDS = "your code exited Python (exit code 3) before it returned a result"
HANGS = """import signal

def sieve(n):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    while True:
        pass
"""


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
    found = re.search(
        r"^([\d.]+) of ([\d.]+) points \(the grader's tests, on other random inputs\)$", done.out, re.MULTILINE
    )
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
        replaced = "possibly more in the grader, which replaces sieve with working code" in done.out
        assert earned <= result["score"] if replaced else earned == result["score"]
        assert "the submitted files, the number of inputs, and the time limits" in " ".join(done.out.split())


def test_check_tests_only_named_katas(primes: Path) -> None:
    copy_submission(primes, "complete")
    done = run_kata(primes, "check", "sieve")
    assert (done.code, parse_points(done)) == (0, (50, 50))
    assert "factorise" not in done.out
    with (primes / "assignment/sieve.py").open("a") as file:
        file.write("TOKEN = 'ghp_" + "x" * 36 + "'\n")
    left = run_kata(primes, "check", "sieve")
    assert parse_points(left) == (0, 50)
    assert re.search(r"^  sieve\.py +not included: line \d+ contains a key or token", left.out, re.MULTILINE)
    refused = run_kata(primes, "check", "seive")
    assert (refused.code, refused.err) == (2, "kata: there is no kata 'seive'; did you mean sieve?\n")


def test_check_uses_only_files_that_are_submitted(primes: Path) -> None:
    right = (PRIMES / "submissions/complete/sieve.py").read_text()
    (primes / "assignment/primes.txt").write_text("2 3 5 7")
    reads = "from pathlib import Path\n(Path(__file__).parent / 'primes.txt').read_text()\n"
    (primes / "assignment/sieve.py").write_text(f"{right}\n{reads}")
    done = run_kata(primes, "check", "sieve")
    assert parse_points(done) == (0, 50)
    assert "FileNotFoundError" in done.out


def test_check_survives_code_that_exits_python(primes: Path) -> None:
    copy_submission(primes, "complete")
    with (primes / "assignment/factorise.py").open("a") as file:
        file.write("import os\nos._exit(3)\n")
    done = run_kata(primes, "check")
    assert (done.code, parse_points(done)) == (1, (50, 100))
    assert re.search(rf"^  factorise +0 of 50   test_\w+: {re.escape(ENDS)}$", done.out, re.MULTILINE), done.out


def set_limits(primes: Path, **limits: float) -> None:
    """Override time limits of the course, in seconds."""
    project = primes / "pyproject.toml"
    text = project.read_text("utf-8")
    for name, seconds in limits.items():
        text = re.sub(rf"^{name}_seconds = .*$", f"{name}_seconds = {seconds}", text, flags=re.MULTILINE)
    project.write_text(text, "utf-8")


def test_check_enforces_time_limits(primes: Path) -> None:
    set_limits(primes, call=0.3, test=0.5, kata=0.6)
    (primes / "assignment/sieve.py").write_text("def sieve(n):\n    while True:\n        pass\n")
    done = run_kata(primes, "check", "sieve")
    assert "your code did not return within 0.3 seconds" in done.out
    assert "sieve.py, line 3:  pass" in done.out or "sieve.py, line 2:  while True:" in done.out
    assert "earlier tests used up the time for this kata" in done.out


@pytest.mark.skipif(sys.platform != "linux", reason="blocks a signal")
def test_check_stops_code_that_ignores_alarms(primes: Path) -> None:
    set_limits(primes, call=0.1, test=0.1)
    (primes / "assignment/sieve.py").write_text(HANGS)
    done = run_kata(primes, "check", "sieve")
    assert (done.code, parse_points(done)) == (1, (0, 50))
    assert "your code ran for more than 5.3 seconds and could not be interrupted" in done.out
