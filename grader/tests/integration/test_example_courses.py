"""Example courses without PyTorch are tested, graded and certified in an environment without torch."""

import re
import shutil
from pathlib import Path

import pytest

from grader.results.result import read
from grader.tests import ROOT
from grader.tests.conftest import Run
from grader.tests.support.wheel import run_installed

COURSES = ROOT / "examples/courses"
SCORES = {
    "primes": {"complete": 100.0, "half_done": 50.0, "subtly_wrong": 30.0},
    "vectors": {"complete": 100.0, "half_done": 30.0, "subtly_wrong": 9.0},
}


@pytest.fixture(params=SCORES)
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Copy the course to a directory outside this repository and return its path."""
    return copy_course(request.param, tmp_path)


def copy_course(name: str, folder: Path) -> Path:
    ignored = shutil.ignore_patterns(".*", "__pycache__")
    return Path(shutil.copytree(COURSES / name, folder / name, ignore=ignored))


def certify(installed: Path, course: Path, *options: str) -> Run:
    done = run_installed(installed, course, "grader", "certify", "--quick", "--isolation", "bwrap", *options)
    assert done.code == 0, done.out + done.err
    assert re.search(r"certified by the quick proof: (\d+) of \1 claims hold", done.out)
    return done


def test_failure_in_example_course_shows_argument_names(installed: Path, tmp_path: Path) -> None:
    primes, vectors = (copy_course(name, tmp_path) for name in SCORES)
    for course, kata, shown in (
        (primes, "sieve", r"input +n = \d+; sieve\(n\)\n"),
        (vectors, "moving_average", r"input +x = np\.(?s:.+)moving_average\(x, window\)\n"),
        (vectors, "normalise", r"input +x = np\."),  # called by its own probe
    ):
        run = run_installed(
            installed, course, "pytest", "--impl=submissions/subtly_wrong", f"--kata={kata}", "--seed=0"
        )
        assert run.code == 1, run.out + run.err
        assert re.search(shown, run.out)


@pytest.mark.usefixtures("needs_bwrap")
def test_example_submissions_get_their_points(installed: Path, copy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    submissions = [str(path) for path in sorted((copy / "submissions").iterdir())]
    arguments = [*submissions, "--out", str(out), "--isolation", "bwrap", "--seed", "0", "--examples", "20"]
    done = run_installed(installed, copy, "grader", "grade", *arguments)
    assert done.code == 0, done.err
    graded = {path.parent.name: read(path) for path in out.glob("*/result.json")}
    assert {name: result.score for name, result in graded.items()} == SCORES[copy.name]


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize("copy", ["primes", pytest.param("vectors", marks=pytest.mark.timing)], indirect=True)
def test_example_course_passes_quick_certification(installed: Path, copy: Path) -> None:
    certify(installed, copy, "--only", "zoo")


@pytest.mark.timing
@pytest.mark.usefixtures("needs_bwrap")
def test_attacks_gain_no_points_in_plain_python_course(installed: Path, tmp_path: Path) -> None:
    certified = certify(installed, copy_course("primes", tmp_path), "--only", "attacks", "--jobs", "4")
    gained_nothing = re.findall(r"^ *(channel|escape|persistence) +bwrap +\d+ +0 ", certified.out, re.MULTILINE)
    assert gained_nothing == ["channel", "escape", "persistence"]
