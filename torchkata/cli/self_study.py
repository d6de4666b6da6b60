"""The course for self-learners: `kata init` writes it, and `kata solution` shows the solution of a finished kata.

A wheel contains the course and the solutions as archives, written by the code of `grader release`. A checkout has no
archives and runs this code instead. A handout from an instructor has neither.
"""

import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from torchkata.course import ARCHIVES, ENGINE, Kata, course, is_course, use
from torchkata.course.handout import is_self_study
from torchkata.i18n import _
from torchkata.pytest_plugin.history import load_state
from torchkata.pytest_plugin.packages import find_missing, list_pip_commands

from .terminal import UsageError, paint, say

COURSE, SOLUTIONS = "course.zip", "solutions.zip"
BUILD = "grader.commands.release.self_study"  # a module of a checkout, which this package must not import
FOLDER = "torchkata-course"  # name of the new folder by default
ENVIRONMENT = ".venv"  # where editors look for a virtual environment


def init(folder: Path) -> None:
    """Write the course into a new folder, or one with only a virtual environment, and print the next steps.

    Raises UsageError if the folder is not empty or the course can't be built, or OSError if a file can't be written.
    """
    if folder.exists() and (not folder.is_dir() or {path.name for path in folder.iterdir()} - {ENVIRONMENT}):
        raise UsageError(_("{folder}: is not empty; choose another folder, as in `kata init DIR`", folder=folder))
    for name, content in read_archive(COURSE).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    use(folder)
    say("{folder} is ready (katas: {katas}). Next:", folder=folder, katas=len(course().katas))
    enter = [] if folder.samefile(Path()) else [f'cd "{folder}"']
    steps = [*enter, *list_pip_commands(find_missing(course().dependencies)), "kata watch"]
    print(*(f"  {command}" for command in steps), sep="\n")


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


def show_solution(kata: Kata, *, others: bool = False) -> None:
    """Print the reference solution of a kata, and then, if wanted, other correct solutions.

    The first line of each tells how it differs. Raises UsageError if the kata is not finished or there is no solution.
    """
    own = course().solution(kata.name)
    if not own.is_file() and not is_self_study(course().root):
        raise UsageError(_("this course does not contain its solutions"))
    if not load_state().is_done(kata.name):
        message = _(
            "{kata} is not done: its solution is shown once all its tests pass (kata next {kata})", kata=kata.name
        )
        raise UsageError(message)
    if own.is_file():
        found = {f"{kata.name}.py": own.read_bytes(), **course().other_solutions([kata.name])}
    else:
        found = read_archive(SOLUTIONS)
    if f"{kata.name}.py" not in found:
        raise UsageError(_("this course does not contain its solutions"))
    print(found.pop(f"{kata.name}.py").decode("utf-8"), end="")
    for name, source in sorted(found.items()):
        if others and name.startswith(f"{kata.name}/"):
            print(f"\n{paint(f'── {name} ──', 'bold')}\n\n{source.decode('utf-8')}", end="")
    sys.stdout.flush()
