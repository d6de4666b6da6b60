"""Tests that the Containerfile is consistent with the project and its documentation."""

import re
from fnmatch import fnmatch
from pathlib import Path

from grader.commands.doctor.machine import IN_CONTAINER
from grader.commands.package.project import copy_project
from grader.tests import ROOT
from torchkata.course import course

TEXT = (ROOT / "Containerfile").read_text("utf-8")


def is_copied(name: str) -> bool:
    """Return whether `.dockerignore` allows a file into the image. The last matching line takes precedence."""
    lines = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]
    parts = [Path(*Path(name).parts[:count]).as_posix() for count in range(1, len(Path(name).parts) + 1)]
    copied = True
    for line in lines:
        pattern = line.removeprefix("!").removeprefix("**/")
        if any(fnmatch(part, pattern) or (fnmatch(Path(part).name, pattern) and "**/" in line) for part in parts):
            copied = line.startswith("!")
    return copied


def test_image_installs_tested_versions() -> None:
    installs = re.findall(r"pip install (.+?)(?: \\)?$", TEXT, re.MULTILINE)
    assert installs
    assert all("--constraint constraints.txt" in line for line in installs)
    assert {"bubblewrap", "libseccomp2", "python3-venv"} <= set(TEXT.split())


def test_image_copies_only_needed_files() -> None:
    needed = [
        *copy_project(course().katas, is_public=False),
        "pyproject.toml",
        "README.md",
        "docs/students.md",
        "reference/linear/solution.py",
    ]
    assert not [name for name in needed if not is_copied(name)]
    others = [
        ".git/config",
        ".venv/bin/python",
        "results/ada/result.json",
        "grader/tests/conftest.py",
        ".env",
        "uv.lock",
    ]
    others += ["docs/images/x.png", "torchkata/__pycache__/values.pyc", f"{course().root.name}.zip"]
    assert not [name for name in others if is_copied(name)]


def test_doctor_and_docs_name_same_container_options() -> None:
    _, user, security = IN_CONTAINER.split(" ", 2)
    assert f"USER {user}" in TEXT
    assert security in (ROOT / "docs/operators.md").read_text("utf-8")
