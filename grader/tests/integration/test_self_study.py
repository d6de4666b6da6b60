"""Tests of the self-study course: a learner runs `kata init`, works on katas, and updates to a newer wheel."""

import shutil
import sys
from pathlib import Path

import pytest

from grader.commands.release.contents import build_self_study
from grader.tests import ROOT
from grader.tests.conftest import Run, run_kata
from grader.tests.support.solution import SOLUTION
from grader.tests.support.wheel import build_wheel, copy_source, make_student_environment, run_installed, run_pip
from torchkata.course import course

CPU_BUILDS = "--index-url https://download.pytorch.org/whl/cpu"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, installed: Path) -> Path:
    """Return the `bin` directory of an environment with the wheel. It shares torch with this environment."""
    programs = make_student_environment(tmp_path_factory.mktemp("learner") / "venv")
    [wheel] = installed.parents[1].glob("*.whl")
    run_pip("--python", programs / "python", "install", "--ignore-installed", wheel)
    return programs


def read_assignment(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "assignment").glob("*.py"))}


def test_update_preserves_all_work_of_the_learner(programs: Path, tmp_path: Path) -> None:
    def type_in(*command: str, code: int = 0) -> Run:
        done = run_installed(programs, mine, *command)
        assert done.code == code, done.out + done.err
        return done

    mine = tmp_path
    begun = type_in("kata", "init").out.splitlines()
    mine = tmp_path / "torchkata-course"
    assert begun == [
        f"torchkata-course is ready (katas: {len(course().katas)}). Next:",
        '  cd "torchkata-course"',
        "  kata watch",
    ]
    for name in ("same_storage", "linear"):
        shutil.copy(SOLUTION / f"{name}.py", mine / "assignment")
    assert type_in("pytest", "--kata=same_storage,linear").out.count("done") == 2
    assert type_in("kata", "update").out == "already up to date\n"
    assert type_in("kata", "solution", "linear").out == (SOLUTION / "linear.py").read_text("utf-8")
    assert type_in("kata", "solution", "linear", "--others").out.count("── linear/") == 3
    refused = type_in("kata", "solution", "cruncher", code=2).err
    assert refused == (
        "kata: cruncher is not done: its solution is shown once all its tests pass (kata next cruncher)\n"
    )

    source = copy_source(tmp_path / "newer")
    for file in ("assignment/linear.py", "tests/test_linear.py"):
        (source / file).write_text((source / file).read_text("utf-8") + "# changed\n", "utf-8")
    run_pip("--python", programs / "python", "install", build_wheel(source, tmp_path, "0.2.0"))
    assert type_in("kata", "--version").out.startswith("torchkata 0.2.0, ")
    before = read_assignment(mine)
    assert type_in("kata", "update").out.splitlines() == [
        "the task of linear has changed: compare your file with the new stub, reference/stubs/linear.py",
        "files updated: 2; assignment/ was not changed",
    ]
    assert read_assignment(mine) == before
    rows = {line.split()[0]: line for line in type_in("kata").out.splitlines() if line.startswith("  ")}
    assert "done           6/6       8/8 points" in rows["same_storage"]
    assert "outdated" not in rows["same_storage"]
    assert rows["linear"].endswith("  may be outdated")
    assert type_in("kata", "update").out == "already up to date\n"


def test_init_works_without_torch(installed: Path, tmp_path: Path) -> None:
    done = run_installed(installed, tmp_path, "torchkata", "init", "here")
    assert (done.code, done.err) == (0, "")
    commands = [line.strip() for line in done.out.splitlines()[1:]]
    assert commands[0] == 'cd "here"'
    assert commands[-1] == "kata watch"
    if sys.platform == "linux" and shutil.which("nvidia-smi") is None:
        others = 'pip install "einops>=0.8" "jaxtyping>=0.2.34" "plotille>=6.0"'
        assert commands[1:-1] == [f'pip install "torch>=2.6" {CPU_BUILDS}', others]
    again = run_installed(installed, tmp_path, "kata", "init", "here")
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "here: is not empty" in again.err
    assert "0 of 8 done" in run_installed(installed, tmp_path / "here", "kata").out
    asked = run_installed(installed, tmp_path / "here", "kata", "next")
    assert (asked.code, asked.out) == (2, "")
    missing = f"; run: {' && '.join(commands[1:-1])}\n"
    assert asked.err.startswith("kata: packages are missing from /")
    assert asked.err.endswith(missing)
    tested = run_installed(installed, tmp_path / "here", "pytest")
    assert (tested.code, tested.err) == (4, asked.err.replace("kata:", "ERROR:") + "\n")
    (tmp_path / "here/.venv").mkdir()
    (tmp_path / "here/.venv/pyvenv.cfg").touch()
    asked = run_installed(installed, tmp_path / "here", "kata", "next")
    assert asked.err.endswith("; run: source .venv/bin/activate\n")
    (tmp_path / "inside/.venv").mkdir(parents=True)
    assert 'cd "' not in run_installed(installed, tmp_path / "inside", "kata", "init", ".").out


def test_handout_has_no_solutions(handout: Path) -> None:
    for command, line in (
        (("solution", "linear"), "kata: this course does not contain its solutions\n"),
        (("update",), "kata: specify the newer handout, for example `kata update handout.zip`\n"),
    ):
        done = run_kata(handout, *command)
        assert (done.code, done.out, done.err) == (2, "", line)


@pytest.mark.sample
def test_self_study_folder_contains_no_engine_or_grader() -> None:
    files = build_self_study()
    assert not [path for path in files if path.startswith(("torchkata/", "grader/", ".github/", ".devcontainer/"))]
    assert {f"assignment/{name}.py" for name in course().katas} <= files.keys()
    assert files["assignment/linear.py"] == (ROOT / "assignment/linear.py").read_bytes()
    assert b"TITLE" not in files["README.md"]
    assert b"KATAS" not in files["README.md"]
    assert b"grader_python" not in files["pyproject.toml"], "nobody grades"
