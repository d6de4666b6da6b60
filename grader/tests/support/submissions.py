"""What tests hand in, and what has become of it: a few files of one kata, or the solution with something exchanged."""

import shutil
from pathlib import Path
from typing import Any

from grader.pipeline.queue import GradingOptions, Options
from grader.results.result import read
from grader.tests import ROOT
from grader.tests.support.solution import SOLUTION

LINEAR = (SOLUTION / "linear.py").read_text()
PRIMES = ROOT / "examples/courses/primes"  # needs no torch: importing it takes most of a run of one kata
SIEVE = (PRIMES / "reference/sieve/solution.py").read_text()
WRONG_SIEVE = SIEVE.replace("range(n)", "range(3, n)")  # wrong, it is a prime
SLOW = "\nimport time\ntime.sleep(0.25)\n"  # at every import: five tests make it more than a second
NAMES = ("ada", "ben", "cleo", "dan")
SHORT = ("--examples", "5", "--jobs", "2", "--seed", "0")
OPTIONS = ("--kata", "sieve", *SHORT)


def write_submissions(folder: Path, source: str, *names: str, kata: str = "linear") -> list[Path]:
    """Submissions of one file."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / f"{kata}.py").write_text(source)
    return [folder / name for name in names]


def list_results(out: Path) -> list[str]:
    """Who has a result; each is whole."""
    return sorted(read(path).submission for path in out.glob("*/result.json"))


def write_assignment(folder: Path, **changes: str | None) -> Path:
    """A finished assignment but for these files: their new text, or None for one that is not there."""
    shutil.copytree(SOLUTION, folder, dirs_exist_ok=True)
    for kata, text in changes.items():
        if text is None:
            (folder / f"{kata}.py").unlink()
        else:
            (folder / f"{kata}.py").write_text(text)
    return folder


def edit_solution(kata: str, old: str, new: str) -> str:
    """The solution of a kata with one text exchanged."""
    source = (SOLUTION / f"{kata}.py").read_text()
    assert source.count(old) == 1
    return source.replace(old, new)


def make_options(out: Path, **changes: Any) -> Options:
    """Return options of both kinds for `grader grade`."""
    grading: dict[str, Any] = {"seed": 0, "examples": 5, "isolation": "bwrap", "katas": ("linear",)}
    grading |= {name: changes.pop(name) for name in GradingOptions.__struct_fields__ if name in changes}
    return Options(GradingOptions(**grading), out, **{"quiet": True, **changes})


def make_slurm_options(out: Path, **changes: Any) -> Options:
    """Options of a call on Slurm."""
    return make_options(out, **{"executor": "slurm", "alone": False, "jobs": 2, **changes})


TRAP_MODULES = (
    *("einops", "torch", "numpy", "pytest", "hypothesis", "msgspec", "rich", "typer", "jinja2", "submitit", "pip"),
    *("venv", "ensurepip", "sitecustomize", "usercustomize", "conftest", "ctypes", "json", "subprocess", "runpy"),
    *("grader", "torchkata", "trap"),
)
SETTINGS = {
    "pyproject.toml": '[tool.torchkata]\n[tool.pytest.ini_options]\naddopts = ["-p", "trap"]\npythonpath = ["."]\n',
    "pytest.ini": "[pytest]\naddopts = -p trap\npythonpath = .\n",
    "tox.ini": "[pytest]\naddopts = -p trap\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p trap\n",
}


def write_traps(folder: Path, mark: Path) -> Path:
    """Files at the root of a hand-in that Python, pip or pytest might take for their own: `mark` has those that ran."""
    for name in TRAP_MODULES:
        (folder / f"{name}.py").write_text(
            f"with open({str(mark)!r}, 'a') as file:\n    file.write(__file__ + '\\n')\n"
        )
    for name, text in SETTINGS.items():
        (folder / name).write_text(text)
    return folder
