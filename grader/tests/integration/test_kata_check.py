"""Tests of `kata check`, which computes the points on the student's machine."""

import json
import re
import sys
from pathlib import Path

import pytest

from grader.tests.conftest import Run, call_grader, find_row, run, run_kata
from grader.tests.support.submissions import PRIMES

SUBMISSIONS = ("half_done", "subtly_wrong")


@pytest.fixture
def primes(tmp_path: Path) -> Path:
    assert call_grader("--course", PRIMES, "release", "--out", tmp_path / "primes").code == 0
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


def test_check_names_what_the_grader_refuses(primes: Path) -> None:
    source = "import subprocess\n\ndef sieve(n):\n    subprocess.run(['true'])\n    return [2]\n"
    (primes / "assignment/sieve.py").write_text(source)
    done = run_kata(primes, "check", "sieve")
    assert "sieve.py  line 4: subprocess.run: the grader runs code without other processes" in done.out
    assert "factorise.py  " not in done.out, "only the katas that were checked"
    assert "Your Python is" not in done.out, "it is as new as that of the release"
    assert "factorise.py  " not in run_kata(primes, "check").out, "it is not started"


def test_older_python_of_the_grader_is_named(primes: Path) -> None:
    settings = primes / "pyproject.toml"
    settings.write_text(
        re.sub(r'^grader_python = ".*"$', 'grader_python = "3.10"', settings.read_text("utf-8"), flags=re.MULTILINE)
    )
    (primes / "assignment/sieve.py").write_text("import math\n\ndef sieve(n):\n    return math.sumprod([n], [n])\n")
    for command in ("check", "export"):
        out = " ".join(run_kata(primes, command).out.split())
        assert f"Your Python is 3.{sys.version_info.minor}, and the grader may have 3.10, where newer syntax" in out
        assert "sieve.py line 4: math.sumprod needs Python 3.12, and the grader may have Python 3.10" in out


def test_check_tests_only_named_katas(primes: Path) -> None:
    copy_submission(primes, "complete")
    done = run_kata(primes, "check", "sieve")
    assert (done.code, parse_points(done)) == (0, (50, 50))
    assert "factorise" not in done.out
