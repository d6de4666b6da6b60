"""The reference solution in one folder, as a student would hand it in; and the course in a folder of a test's own."""

import atexit
import shutil
import tempfile
from pathlib import Path

from grader.tests import ROOT
from torchkata.course import course

COURSE = ("pyproject.toml", "conftest.py", "assignment", "tests", "reference")

SOLUTION = Path(tempfile.mkdtemp(prefix="torchkata-solution-"))
atexit.register(shutil.rmtree, SOLUTION, ignore_errors=True)
for name, content in course().solutions().items():
    (SOLUTION / name).write_bytes(content)


def copy_course(folder: Path) -> Path:
    """This folder, with all of the course in it, to be changed."""
    for name in COURSE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
    return folder
