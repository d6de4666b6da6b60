"""All commands of the wheel, a new course and the example course work without a checkout and without torch."""

import re
import shutil
from pathlib import Path

import pytest

from grader.commands.new.templates import KINDS
from grader.commands.release.wheel import build_wheel
from grader.results.result import read
from grader.tests.support.submissions import PRIMES
from grader.tests.support.wheel import run_installed

SCORES = {"complete": 100.0, "half_done": 50.0, "subtly_wrong": 21.0}


def test_wheel_environment_has_no_torch_or_checkout(installed: Path, tmp_path: Path) -> None:
    code = "import grader, importlib.util as u, numpy; from torchkata.compare.repro_code import literal\n"
    code += "print(grader.__file__, u.find_spec('torch'), literal(numpy.array([0.5, 2.0])))"
    done = run_installed(installed, tmp_path, "python", "-c", code)
    assert done.out.startswith(str(installed.parent)), done.err
    assert done.out.endswith(" None np.array([0.5, 2.0])\n"), "arrays are shown without torch"


def test_commands_outside_a_course_report_missing_course(installed: Path, tmp_path: Path) -> None:
    line = "there is no course here: change to the folder that contains its pyproject.toml"
    assert run_installed(installed, tmp_path, "kata").err == f"kata: {line}, or write a new course with `kata init`\n"
    for command in ("grader grade x --out out", "grader certify", "grader release --out out"):
        done = run_installed(installed, tmp_path, *command.split())
        assert (done.code, done.err) == (2, f"grader: {line}, or write one with `kata init` or `grader new course`\n")
    (tmp_path / "test_mine.py").write_text("def test_mine(): pass\n")
    assert "1 passed" in run_installed(installed, tmp_path, "pytest").out, (
        "outside a course, the installed plugin must not change pytest"
    )


@pytest.mark.usefixtures("needs_bwrap")
def test_new_course_is_tested_graded_and_certified(installed: Path, tmp_path: Path) -> None:
    assert run_installed(installed, tmp_path, "grader", "new", "course", "sums", "--title", "Sums of squares").code == 0
    course = tmp_path / "sums"
    for kind in KINDS:
        made = run_installed(installed, course, "grader", "new", "kata", f"new_{kind}", "--kind", kind)
        assert made.code == 0, made.err
    count = 1 + len(KINDS)
    assert f"0 of {count} done" in run_installed(installed, course, "kata").out
    untouched = run_installed(installed, course, "pytest")
    assert (untouched.code, untouched.out.count("not started")) == (1, count + 1), untouched.out
    assert "All done." in run_installed(installed, course, "pytest", "--impl", "solution").out
    doctor = run_installed(installed, course, "grader", "doctor")
    assert doctor.code == 0, doctor.out
    assert f"Sums of squares: {count} katas" in doctor.out
    for part in ("files", "zoo"):
        certified = run_installed(installed, course, "grader", "certify", "--quick", "--only", part)
        assert certified.code == 0, certified.out + certified.err
    assert [kind for kind in KINDS if f"new_{kind} " not in certified.out] == []
    for kind in ("release", "package github"):
        assert run_installed(installed, course, "grader", *kind.split(), "--out", kind[:7]).code == 0
    names = [path.relative_to(course / "package").as_posix() for path in (course / "package").rglob("*.*")]
    assert [name for name in names if "torchkata/" in name]
    assert not [name for name in names if "archives/" in name], "the wheel's solutions"
    [engine] = (course / "release/reference").glob("*.whl")
    assert engine.name == f"torchkata-0.1.0+{build_wheel()[0].partition('+')[2]}-py3-none-any.whl", "as of a checkout"
    shutil.copy(course / "reference/first_kata/solution.py", course / "assignment/first_kata.py")
    graded = run_installed(
        installed, course, "grader", "grade", "assignment", "--out", "results", "--isolation", "bwrap"
    )
    assert graded.code == 0, graded.err
    assert (course / "results/gradebook.csv").read_text().splitlines()[1].startswith('"assignment",10.0,30.0,10.0,')
    reported = run_installed(installed, course, "grader", "report", "results")
    assert reported.code == 0, reported.err


@pytest.mark.usefixtures("needs_bwrap")
def test_example_course_is_graded_and_certified(installed: Path, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns(".*", "__pycache__")
    primes, out = Path(shutil.copytree(PRIMES, tmp_path / "primes", ignore=ignored)), tmp_path / "out"
    submissions = [str(path) for path in sorted((primes / "submissions").iterdir())]
    arguments = [*submissions, "--out", str(out), "--isolation", "bwrap", "--seed", "0", "--examples", "20"]
    done = run_installed(installed, primes, "grader", "grade", *arguments)
    assert done.code == 0, done.err
    graded = {path.parent.name: read(path) for path in out.glob("*/result.json")}
    assert {name: result.score for name, result in graded.items()} == SCORES
    certified = run_installed(
        installed, primes, "grader", "certify", "--quick", "--isolation", "bwrap", "--only", "zoo"
    )
    assert certified.code == 0, certified.out + certified.err
    assert re.search(r"certified by the quick proof: (\d+) of \1 claims hold", certified.out)
