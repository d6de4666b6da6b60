"""`kata check`: what the grader would say of a hand-in, at a student's desk."""

import json
import re
import sys
from pathlib import Path

import pytest

from grader.tests.conftest import Run, ask, kata, run
from grader.tests.handed_in import PRIMES

SUBMISSIONS = ("complete", "half_done", "subtly_wrong")
MISTAKES = {  # of honest students: the code, and what they are told
    "import subprocess\nsubprocess.run(['true'])": "PermissionError: the grader lets your code start no process",
    "import socket\nsocket.create_connection(('127.0.0.1', 1))": "PermissionError: the grader lets your code use no",
    "from reference.sieve.oracle import primes": "ModuleNotFoundError: No module named 'reference'",
    "from pathlib import Path\n(Path(__file__).parent / 'primes.txt').read_text()": "FileNotFoundError",
    "import os\nos._exit(3)": "your code ended Python itself (exit code 3)",
}


@pytest.fixture
def primes(tmp_path: Path) -> Path:
    """The handout of a small course without torch."""
    assert ask("--course", PRIMES, "release", tmp_path / "primes").code == 0
    return tmp_path / "primes"


def hand_in(handout: Path, submission: str) -> None:
    """Somebody's files in the place of the stubs."""
    for path in (PRIMES / "submissions" / submission).glob("*.py"):
        (handout / "assignment" / path.name).write_bytes(path.read_bytes())


def points(done: Run) -> tuple[float, float]:
    """Those that were earned, and all."""
    found = re.search(r"^As the grader would, with other inputs: ([\d.]+) of ([\d.]+) points$", done.out, re.MULTILINE)
    assert found is not None, done.out + done.err
    return float(found[1]), float(found[2])


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of some submissions."""
    out = tmp_path_factory.mktemp("graded")
    given = [str(PRIMES / "submissions" / name) for name in SUBMISSIONS]
    done = run("grader", "--course", str(PRIMES), "grade", *given, "--out", str(out))
    assert done.code == 0, done.err
    return out


@pytest.mark.parametrize("submission", SUBMISSIONS)
def test_kata_check_tells_the_points_that_the_grader_gives(primes: Path, graded: Path, submission: str) -> None:
    hand_in(primes, submission)
    done = kata(primes, "check")
    result = json.loads((graded / submission / "result.json").read_text())
    earned, most = points(done)
    assert most == result["max_score"] == 100
    lent = "perhaps more: the grader puts working parts in the place of sieve" in done.out
    assert earned <= result["score"] if lent else earned == result["score"]
    assert done.code == (earned < most)
    assert "what is handed in, the number of inputs, the limits" in done.out


def test_kata_check_tests_the_katas_that_are_named(primes: Path) -> None:
    hand_in(primes, "complete")
    done = kata(primes, "check", "sieve")
    assert (done.code, points(done)) == (0, (50, 50))
    assert "factorise" not in done.out
    with (primes / "assignment/sieve.py").open("a") as file:
        file.write("TOKEN = 'ghp_" + "x" * 36 + "'\n")
    left = kata(primes, "check", "sieve")
    assert points(left) == (0, 50)
    assert re.search(r"^  sieve\.py +line \d+ has a key or a token; not handed in", left.out, re.MULTILINE)
    refused = kata(primes, "check", "seive")
    assert (refused.code, refused.err) == (2, "kata: there is no kata 'seive'; did you mean sieve?\n")


def test_kata_check_names_what_works_at_a_desk_and_not_when_it_is_graded(primes: Path) -> None:
    right = (PRIMES / "submissions/complete/sieve.py").read_text()
    (primes / "assignment/primes.txt").write_text("2 3 5 7")
    for source, told in MISTAKES.items():
        (primes / "assignment/sieve.py").write_text(f"{right}\n{source}\n")
        done = kata(primes, "check", "sieve")
        assert points(done) == (0, 50), source
        assert told in " ".join(done.out.split()), done.out


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory needs Linux")
def test_kata_check_keeps_the_limits_on_memory_and_time(primes: Path) -> None:
    project, stub = primes / "pyproject.toml", primes / "assignment/sieve.py"
    stub.write_text("def sieve(n):\n    return [len(bytearray(2**30)) and 2]\n")
    assert "crashed MemoryError" in " ".join(kata(primes, "check", "sieve").out.split())
    limits = {"call": 0.3, "test": 0.5, "kata": 0.6}
    text = project.read_text("utf-8")
    for name, seconds in limits.items():
        text = re.sub(rf"^{name}_seconds = .*$", f"{name}_seconds = {seconds}", text, flags=re.MULTILINE)
    project.write_text(text, "utf-8")
    stub.write_text("def sieve(n):\n    while True:\n        pass\n")
    done = kata(primes, "check", "sieve")
    assert "no answer within 0.3 seconds" in done.out
    assert "sieve.py, line 3:  pass" in done.out or "sieve.py, line 2:  while True:" in done.out
    assert "the tests before this one have used up the kata's time" in done.out
    stub.write_text(
        "import re\n\ndef sieve(n):\n    return re.match('(a*)*b', 'a' * 40)\n"
    )  # one call that hears no alarm
    assert "timed out" in kata(primes, "check", "sieve").out
