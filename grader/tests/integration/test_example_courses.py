"""Example courses without PyTorch work from the first `pytest` to certification in an environment without torch."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from grader.results.result import read
from grader.tests import ROOT
from grader.tests.conftest import Run
from grader.tests.support.wheel import run_installed
from torchkata.course import read_course

COURSES = ROOT / "examples/courses"
NAMES = sorted(path.name for path in COURSES.iterdir())
SCORES = {
    "primes": {"complete": 100.0, "half_done": 50.0, "subtly_wrong": 30.0},
    "vectors": {"complete": 100.0, "half_done": 30.0, "subtly_wrong": 9.0},
}


@pytest.fixture(params=NAMES)
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Copy the course to a directory outside this repository and return its path."""
    return copy_course(request.param, tmp_path)


def copy_course(name: str, folder: Path) -> Path:
    ignored = shutil.ignore_patterns(".*", "__pycache__")
    return Path(shutil.copytree(COURSES / name, folder / name, ignore=ignored))


def mark_all_but(name: str) -> list[Any]:
    """Return the courses as parameters. All but one of them are marked, so that `make test` skips them."""
    return [pytest.param(other, marks=() if other == name else pytest.mark.timing) for other in NAMES]


def assert_done(run: Run) -> Run:
    assert run.code == 0, run.out + run.err
    return run


def test_example_course_runs_with_stubs_and_solution(installed: Path, copy: Path) -> None:
    count = sum(text.count("\ndef test_") for text in (path.read_text() for path in copy.glob("tests/test_*.py")))
    stubs = run_installed(installed, copy, "pytest")
    assert (stubs.code, f"{count} not started" in stubs.out) == (1, True), stubs.out + stubs.err
    assert f"{count} passed" in assert_done(run_installed(installed, copy, "pytest", "--impl", "solution")).out


def test_failure_in_example_course_shows_argument_names(installed: Path, tmp_path: Path) -> None:
    primes, vectors = (copy_course(name, tmp_path) for name in NAMES)
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
def test_example_course_is_graded_reported_and_exported(installed: Path, copy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    submissions = [str(path) for path in sorted((copy / "submissions").iterdir())]
    arguments = [*submissions, "--out", str(out), "--isolation", "bwrap", "--seed", "0", "--examples", "20"]
    assert_done(run_installed(installed, copy, "grader", "grade", *arguments))
    graded = {path.parent.name: read(path) for path in out.glob("*/result.json")}
    assert {name: result.score for name, result in graded.items()} == SCORES[copy.name]
    assert_done(run_installed(installed, copy, "grader", "report", str(out)))
    assert "subtly_wrong" in (out / "report.html").read_text("utf-8")
    for format, name in (("junit", "junit.xml"), ("gradescope", "gradescope"), ("github", "summary.md")):
        assert_done(
            run_installed(
                installed, copy, "grader", "export", str(out), "--format", format, "--to", str(tmp_path / name)
            )
        )
        assert (tmp_path / name).exists()


@pytest.mark.parametrize("copy", mark_all_but("vectors"), indirect=True)
def test_example_course_is_released_and_packaged(installed: Path, copy: Path, tmp_path: Path) -> None:
    released = assert_done(run_installed(installed, copy, "grader", "release", str(tmp_path / "handout"), "--prove"))
    assert "proven: all stubs count as not started" in released.out
    readme = (tmp_path / "handout/README.md").read_text("utf-8")
    assert readme.startswith(f"# {read_course(copy).title}\n")
    assert not re.search(r"torch\b|docs/|TITLE|TORCH|GUIDES|KATAS", readme)
    archive = tmp_path / "autograder.zip"
    assert_done(run_installed(installed, copy, "grader", "package", "gradescope", str(archive)))
    assert archive.is_file()


@pytest.mark.parametrize("copy", mark_all_but("primes"), indirect=True)
@pytest.mark.usefixtures("needs_bwrap")
def test_example_course_passes_quick_certification(installed: Path, copy: Path) -> None:
    certified = assert_done(
        run_installed(installed, copy, "grader", "certify", "--quick", "--only", "zoo", "--isolation", "bwrap")
    )
    assert re.search(r"certified by the quick proof: (\d+) of \1 claims hold", certified.out)


@pytest.mark.timing
@pytest.mark.usefixtures("needs_bwrap")
def test_attacks_gain_no_points_in_plain_python_course(installed: Path, tmp_path: Path) -> None:
    arguments = ("--quick", "--only", "attacks", "--isolation", "bwrap", "--jobs", "4")
    certified = assert_done(run_installed(installed, copy_course("primes", tmp_path), "grader", "certify", *arguments))
    gained_nothing = re.findall(r"^ *(channel|escape|persistence) +bwrap +\d+ +0 ", certified.out, re.MULTILINE)
    assert gained_nothing == ["channel", "escape", "persistence"]
    assert re.search(r"certified by the quick proof: (\d+) of \1 claims hold", certified.out)
