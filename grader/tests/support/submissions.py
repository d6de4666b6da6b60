"""Writes submissions for tests to grade: single files, modified reference solutions, or attacks on the grader."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from grader.options import GradeOptions
from grader.results.result import read
from grader.tests import ROOT
from grader.tests.support.solution import SOLUTION

LINEAR = (SOLUTION / "linear.py").read_text()
PRIMES = ROOT / "examples/courses/primes"  # a course that does not import torch, so that grading it is fast
SIEVE = (PRIMES / "reference/sieve/solution.py").read_text()
WRONG_SIEVE = SIEVE.replace("range(n)", "range(3, n)")  # omits the prime 2
SLOW = "\nimport time\ntime.sleep(0.25)\n"  # more than a second if added to a file that five tests import
NAMES = ("ada", "ben", "cleo", "dan")
SHORT = ("--examples", "5", "--jobs", "2", "--seed", "0")
OPTIONS = ("--kata", "sieve", *SHORT)
COMMIT_TIME = "1790000000 +0200"


def write_submissions(folder: Path, source: str, *names: str, kata: str = "linear") -> list[Path]:
    """Write a single-file submission for each name."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / f"{kata}.py").write_text(source)
    return [folder / name for name in names]


def write_slow_class(folder: Path, slow: str, *names: str) -> list[Path]:
    """Write submissions that are slow to grade. The second one is wrong."""
    paths = write_submissions(folder, SIEVE + slow, *names, kata="sieve")
    (paths[1] / "sieve.py").write_text(WRONG_SIEVE + slow)
    return paths


def list_results(out: Path) -> list[str]:
    """Return the names of the submissions that have a readable result."""
    return sorted(read(path).submission for path in out.glob("*/result.json"))


def write_assignment(folder: Path, **changes: str | None) -> Path:
    """Write the reference solution with the files of some katas replaced, or removed if the new content is None."""
    shutil.copytree(SOLUTION, folder, dirs_exist_ok=True)
    for kata, text in changes.items():
        if text is None:
            (folder / f"{kata}.py").unlink()
        else:
            (folder / f"{kata}.py").write_text(text)
    return folder


def edit_solution(kata: str, old: str, new: str) -> str:
    """Return the solution of a kata with the only occurrence of `old` replaced by `new`."""
    source = (SOLUTION / f"{kata}.py").read_text()
    assert source.count(old) == 1
    return source.replace(old, new)


def make_options(out: Path, **changes: Any) -> GradeOptions:
    """Return options of `grader grade`."""
    usual: dict[str, Any] = {"seed": 0, "examples": 5, "isolation": "bwrap", "katas": ("linear",), "jobs": 1}
    return GradeOptions(out=out, **usual | changes)


def make_slurm_options(out: Path, **changes: Any) -> GradeOptions:
    return make_options(out, **{"slurm": ("default",), "jobs": 2, **changes})


TRAP_MODULES = """einops torch numpy pytest hypothesis polib msgspec rich typer jinja2 submitit pip venv ensurepip
    sitecustomize usercustomize conftest ctypes json subprocess runpy grader torchkata trap"""
TRAP_SETTINGS = {
    "pyproject.toml": '[tool.torchkata]\n[tool.pytest.ini_options]\naddopts = ["-p", "trap"]\npythonpath = ["."]\n',
    "pytest.ini": "[pytest]\naddopts = -p trap\npythonpath = .\n",
    "tox.ini": "[pytest]\naddopts = -p trap\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p trap\n",
}


def run_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output."""
    who = {f"GIT_{role}_{what}": "a@x.edu" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **who, "GIT_COMMITTER_DATE": COMMIT_TIME}
    command = ["git", "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(
        command, cwd=folder, check=True, env=environment, capture_output=True, text=True
    ).stdout.strip()


def commit_all(folder: Path, message: str = "done") -> Path:
    """Turn a folder into a git repository, commit all its files, and return the folder."""
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "--all", "--force")
    run_git(folder, "commit", "-qm", message)
    return folder


def write_traps(folder: Path, mark: Path) -> Path:
    """Write files that Python, pip or pytest would use if they treated the submission as their own folder.

    Each module that is executed adds its path to `mark`.
    """
    trap = f"with open({str(mark)!r}, 'a') as file:\n    file.write(__file__ + '\\n')\n"
    for name, text in TRAP_SETTINGS.items() | {(f"{module}.py", trap) for module in TRAP_MODULES.split()}:
        (folder / name).write_text(text)
    return folder
