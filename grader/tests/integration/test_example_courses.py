"""Courses that have nothing to do with PyTorch, from the first `pytest` to the proof: from the wheel, without torch."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from grader.results.result import read
from grader.tests import ROOT
from grader.tests.conftest import Run
from grader.tests.support.wheel import call
from torchkata.course import read_course

COURSES = ROOT / "examples/courses"
NAMES = sorted(path.name for path in COURSES.iterdir())
SCORES = {
    "primes": {"complete": 100.0, "half_done": 50.0, "subtly_wrong": 30.0},
    "vectors": {"complete": 100.0, "half_done": 30.0, "subtly_wrong": 9.0},
}


@pytest.fixture(params=NAMES)
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A course, far from this repository."""
    return copied(request.param, tmp_path)


def copied(name: str, folder: Path) -> Path:
    """This course in a folder of its own."""
    ignored = shutil.ignore_patterns(".*", "__pycache__")
    return Path(shutil.copytree(COURSES / name, folder / name, ignore=ignored))


def one_of_them(name: str) -> list[Any]:
    """The courses, of which `make test` takes this one, and `make prove` the others."""
    return [pytest.param(other, marks=() if other == name else pytest.mark.timing) for other in NAMES]


def submissions(course: Path) -> list[str]:
    """Those that the course comes with."""
    return [str(path) for path in sorted((course / "submissions").iterdir())]


def done(run: Run) -> Run:
    """A run that has ended well."""
    assert run.code == 0, run.out + run.err
    return run


def test_example_course_runs_with_stubs_and_solution(installed: Path, copy: Path) -> None:
    count = sum(text.count("\ndef test_") for text in (path.read_text() for path in copy.glob("tests/test_*.py")))
    stubs = call(installed, copy, "pytest")
    assert (stubs.code, f"{count} not started" in stubs.out) == (1, True), stubs.out + stubs.err
    assert f"{count} passed" in done(call(installed, copy, "pytest", "--impl", "solution")).out


def test_example_course_failure_shows_named_arguments(installed: Path, tmp_path: Path) -> None:
    primes, vectors = (copied(name, tmp_path) for name in NAMES)
    assert re.search(r"input +n = \d+; sieve\(n\)\n", failures(installed, primes, "sieve"))
    assert re.search(
        r"input +x = np\.(?s:.+)moving_average\(x, window\)\n", failures(installed, vectors, "moving_average")
    )
    assert re.search(r"input +x = np\.", failures(installed, vectors, "normalise")), (
        "asked by a probe of its own, or by call"
    )


def failures(installed: Path, course: Path, kata: str) -> str:
    """What pytest says of the submission that is subtly wrong."""
    run = call(installed, course, "pytest", "--impl=submissions/subtly_wrong", f"--kata={kata}", "--seed=0")
    assert run.code == 1, run.out + run.err
    return run.out


@pytest.mark.usefixtures("needs_bwrap")
def test_example_course_is_graded_reported_and_exported(installed: Path, copy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [*submissions(copy), "--out", str(out), "--isolation", "bwrap", "--seed", "0", "--examples", "20"]
    done(call(installed, copy, "grader", "grade", *arguments))
    graded = {path.parent.name: read(path) for path in out.glob("*/result.json")}
    assert {name: result.score for name, result in graded.items()} == SCORES[copy.name]
    done(call(installed, copy, "grader", "report", str(out)))
    assert "subtly_wrong" in (out / "report.html").read_text("utf-8")
    for format, name in (("junit", "junit.xml"), ("gradescope", "gradescope"), ("github", "summary.md")):
        done(call(installed, copy, "grader", "export", str(out), "--format", format, "--to", str(tmp_path / name)))
        assert (tmp_path / name).exists()


@pytest.mark.parametrize("copy", one_of_them("vectors"), indirect=True)
def test_example_course_is_released_and_packaged(installed: Path, copy: Path, tmp_path: Path) -> None:
    released = done(call(installed, copy, "grader", "release", str(tmp_path / "handout"), "--prove"))
    assert "proven: all stubs are not started" in released.out
    readme = (tmp_path / "handout/README.md").read_text("utf-8")
    assert readme.startswith(f"# {read_course(copy).title}\n")
    assert not re.search(r"torch\b|docs/|TITLE|TORCH|GUIDES|KATAS", readme)
    archive = tmp_path / "autograder.zip"
    done(call(installed, copy, "grader", "package", "gradescope", str(archive)))
    assert archive.is_file()


@pytest.mark.parametrize("copy", one_of_them("primes"), indirect=True)
@pytest.mark.usefixtures("needs_bwrap")
def test_quick_proof_certifies_an_example_course(installed: Path, copy: Path) -> None:
    certified = done(call(installed, copy, "grader", "certify", "--quick", "--only", "zoo", "--isolation", "bwrap"))
    assert re.search(r"certified by the quick proof: (\d+) of \1 claims hold", certified.out)


@pytest.mark.timing
@pytest.mark.usefixtures("needs_bwrap")
def test_attacks_gain_nothing_in_plain_python_course(installed: Path, tmp_path: Path) -> None:
    arguments = ("--quick", "--only", "attacks", "--isolation", "bwrap", "--jobs", "4")
    certified = done(call(installed, copied("primes", tmp_path), "grader", "certify", *arguments))
    gained_nothing = re.findall(r"^ *(channel|escape|persistence) +bwrap +\d+ +0 ", certified.out, re.MULTILINE)
    assert gained_nothing == ["channel", "escape", "persistence"]
    assert re.search(r"certified by the quick proof: (\d+) of \1 claims hold", certified.out)
