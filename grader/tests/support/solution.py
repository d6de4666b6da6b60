"""Provides the reference solution as a submission, and copies of the course that tests may modify."""

import atexit
import shutil
import tempfile
from pathlib import Path

from grader.tests import ROOT
from torchkata.course import course

SOLUTION = Path(tempfile.mkdtemp(prefix="torchkata-solution-"))
atexit.register(shutil.rmtree, SOLUTION, ignore_errors=True)
for name, content in course().solutions().items():
    (SOLUTION / name).write_bytes(content)


def copy_course(folder: Path) -> Path:
    """Copy this checkout's course into a folder."""
    for name in ("assignment", "tests", "reference"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, folder)
    return folder
