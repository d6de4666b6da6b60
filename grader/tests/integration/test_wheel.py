"""The wheel, in an environment that has neither a checkout nor torch: every command, a new course, foreign courses."""

import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from grader.tests import ROOT
from grader.tests.conftest import Run


def needed(requirement: str, found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """The distributions that a requirement stands for, with all that they need."""
    asked = Requirement(requirement)
    name = asked.name.lower().replace("_", "-")
    if name not in found:
        found[name] = metadata.distribution(name)
        for other in map(Requirement, found[name].requires or []):
            extras = [{"extra": extra} for extra in (*asked.extras, "")]
            if other.marker is None or any(other.marker.evaluate(extra) for extra in extras):
                needed(str(other).partition(";")[0], found)
    return found


def put_into(packages: Path, distribution: metadata.Distribution) -> None:
    """Make a distribution of this environment one of another, without a download."""
    for top in {Path(file.parts[0]) for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
        source, target = Path(str(distribution.locate_file(top))), packages / top
        if source.is_dir() and not target.exists():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))
        elif source.is_file():
            shutil.copy(source, target)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the wheel and what that needs, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("torchkata", "grader"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--wheel-dir",
        str(folder),
        str(source),
    ]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True, timeout=600)
    place = folder / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    [packages] = place.glob("lib/python*/site-packages")
    for name, distribution in needed("torchkata[grader]", {}).items():
        if name != "torchkata":
            put_into(packages, distribution)
    [wheel] = folder.glob("*.whl")
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(place / "bin/python"), *install], check=True, timeout=600
    )
    return place / "bin"


def call(installed: Path, cwd: Path, *command: str) -> Run:
    """A command of that environment, for somebody who has nothing else of ours."""
    environment = {"PATH": f"{installed}:{os.environ['PATH']}", "HOME": str(cwd), "KATA_LANG": "en", "COLUMNS": "120"}
    started = [installed / "python", "-m"] if command[0] == "pytest" else [installed / command[0]]
    typed = [*started, *(command if command[0] == "pytest" else command[1:])]
    done = subprocess.run(typed, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)
    return Run(done.returncode, done.stdout, done.stderr)


def test_torch_is_not_there_and_ours_is_not_the_checkouts(installed: Path, tmp_path: Path) -> None:
    code = "import grader, torchkata, importlib.util as u; print(grader.__file__, u.find_spec('torch'))"
    done = call(installed, tmp_path, "python", "-c", code)
    assert done.out.startswith(str(installed.parent)), done.err
    assert done.out.endswith(" None\n")


def test_without_a_course_each_command_says_so_in_a_line(installed: Path, tmp_path: Path) -> None:
    line = "there is no course here: change into the folder that has its pyproject.toml\n"
    for command in ("kata", "grader grade x --out out", "grader certify", "grader release out"):
        done = call(installed, tmp_path, *command.split())
        assert (done.code, done.err) == (2, f"{command.split()[0]}: {line}")
    (tmp_path / "test_mine.py").write_text("def test_mine(): pass\n")
    assert "1 passed" in call(installed, tmp_path, "pytest").out, "pytest itself is as if nothing of ours was installed"


@pytest.mark.usefixtures("needs_bwrap")
def test_a_new_course_can_be_tested_graded_and_certified(installed: Path, tmp_path: Path) -> None:
    assert call(installed, tmp_path, "grader", "new", "course", "sums", "--title", "Sums of squares").code == 0
    course = tmp_path / "sums"
    assert call(installed, course, "grader", "new", "kata", "second").code == 0
    assert "0 of 2 done" in call(installed, course, "kata").out
    untouched = call(installed, course, "pytest")
    assert (untouched.code, untouched.out.count("not started")) == (1, 3), untouched.out
    assert "All done." in call(installed, course, "pytest", "--impl", "solution").out
    doctor = call(installed, course, "grader", "doctor")
    assert doctor.code == 0, doctor.out
    assert "Sums of squares: 2 katas" in doctor.out
    certified = call(installed, course, "grader", "certify", "--quick")
    assert certified.code == 0, certified.out + certified.err
    shutil.copy(course / "reference/second/solution.py", course / "assignment/second.py")
    graded = call(installed, course, "grader", "grade", "assignment", "--out", "results", "--isolation", "bwrap")
    assert graded.code == 0, graded.err
    assert (course / "results/gradebook.csv").read_text().splitlines()[1].startswith("assignment,100.0,200.0,0.0,")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("kata", "first_kata"), "there is such a file already"),
        (("kata", "Second"), "Second: the name of a kata is that of its module, such as moving_average"),
        (("kata", "class"), "class: the name of a kata is that of its module"),
        (("kata", "third", "--track", "none"), "--track none: the tracks are katas"),
        (("course", "."), "there is something already; a course begins in a folder of its own"),
        (("course", "other", "--title", 'a "quote"'), "quotes, backslashes and line breaks can't be in it"),
    ],
)
def test_what_can_not_be_made_is_refused_and_nothing_is_written(
    installed: Path, tmp_path: Path, asked: tuple[str, ...], why: str
) -> None:
    assert call(installed, tmp_path, "grader", "new", "course", "sums").code == 0
    course = tmp_path / "sums"
    before = sorted(course.rglob("*"))
    done = call(installed, course, "grader", "new", *asked)
    assert done.code == 2
    assert why in done.err
    assert sorted(course.rglob("*")) == before
