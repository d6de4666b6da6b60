"""The course for self-learners: `kata init` writes it, and `kata solution` shows the solution of a finished kata.

A wheel contains the course and the solutions as archives, written by the code of `grader release`. A checkout has no
archives and runs this code instead. A handout from an instructor has neither.
"""

import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from torchkata.course import ARCHIVES, ENGINE, Kata, course, handout, is_course, use
from torchkata.i18n import _
from torchkata.pytest_plugin.history import load_state

from .packages import find_missing, list_pip_commands
from .terminal import UsageError, say

COURSE, SOLUTIONS = "course.zip", "solutions.zip"
BUILD = "grader.commands.release.self_study"  # a module of a checkout, which this package must not import
FOLDER = "torchkata-course"  # name of the new folder by default


def init(folder: Path) -> None:
    """Write the course into a new folder and print the next steps.

    Raises UsageError if the folder is not empty or the course can't be built, or OSError if a file can't be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(_("{folder}: is not empty; choose another folder, as in `kata init DIR`", folder=folder))
    for name, content in read_archive(COURSE).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    use(folder)
    say("{folder} is ready (katas: {katas}). Next:", folder=folder, katas=len(course().katas))
    print_steps([f'cd "{folder}"', *list_pip_commands(find_missing(course().dependencies)), "kata watch"])


def print_steps(commands: Sequence[str]) -> None:
    """Print the commands that the student should type next."""
    print(*(f"  {command}" for command in commands), sep="\n")


def read_archive(name: str) -> dict[str, bytes]:
    """Return the files of an archive by path. Raises UsageError if the archive is missing and can't be built."""
    if not ARCHIVES.is_dir() and not (is_course(ENGINE) and (ENGINE / "grader").is_dir()):
        message = _(
            "this torchkata is part of an instructor's handout, which does not contain the course for "
            "self-learners: pip install torchkata"
        )
        raise UsageError(message)
    with tempfile.TemporaryDirectory() as temporary:
        folder = ARCHIVES
        if not folder.is_dir():
            folder = Path(temporary)
            command = [sys.executable, "-m", BUILD, temporary]
            done = subprocess.run(command, cwd=ENGINE, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.splitlines() or [""])[-1]
                raise UsageError(_("the course could not be collected from this checkout ({error})", error=last))
        with zipfile.ZipFile(io.BytesIO((folder / name).read_bytes())) as archive:
            return {file: archive.read(file) for file in archive.namelist()}


def is_self_study() -> bool:
    """Return whether `kata init` wrote this course. A handout from an instructor has its own copy of the engine."""
    root = course().root
    return (root / handout.LIST).is_file() and not (root / "torchkata").is_dir()


def show_solution(kata: Kata) -> None:
    """Print the reference solution of a kata. Raises UsageError if the kata is not finished or there is no solution."""
    own = course().solution(kata.name)
    if not own.is_file() and not is_self_study():
        raise UsageError(_("this course does not contain its solutions"))
    if not load_state().is_done(kata.name):
        message = _(
            "{kata} is not done: its solution is shown once all its tests pass (kata next {kata})", kata=kata.name
        )
        raise UsageError(message)
    source = own.read_bytes() if own.is_file() else read_archive(SOLUTIONS).get(f"{kata.name}.py")
    if source is None:
        raise UsageError(_("this course does not contain its solutions"))
    print(source.decode("utf-8"), end="", flush=True)
