"""The Containerfile: what it says agrees with the project and the documents."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from grader.commands.doctor.machine import IN_CONTAINER
from grader.commands.package.project import copy_project
from grader.tests import ROOT
from torchkata.course import course

TEXT = (ROOT / "Containerfile").read_text("utf-8")
PYTHON_OF_DEBIAN = {"bookworm": "3.11", "trixie": "3.13"}


def taken(name: str) -> bool:
    """Whether `.dockerignore` lets a file into the image: the last line that fits decides."""
    lines = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]
    parts = [Path(*Path(name).parts[:count]).as_posix() for count in range(1, len(Path(name).parts) + 1)]
    into = True
    for line in lines:
        pattern = line.removeprefix("!").removeprefix("**/")
        if any(fnmatch(part, pattern) or (fnmatch(Path(part).name, pattern) and "**/" in line) for part in parts):
            into = line.startswith("!")
    return into


def test_the_image_has_a_python_that_the_project_runs_on() -> None:
    base = re.search(r"^FROM docker\.io/library/debian:(\w+)-slim$", TEXT, re.MULTILINE)
    assert base is not None
    least = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    found, wanted = (tuple(map(int, one.split("."))) for one in (PYTHON_OF_DEBIAN[base[1]], least.removeprefix(">=")))
    assert found >= wanted


def test_the_image_installs_in_the_tested_versions_what_grading_needs() -> None:
    installs = re.findall(r"pip install (.+?)(?: \\)?$", TEXT, re.MULTILINE)
    assert installs
    assert all("--constraint constraints.txt" in line for line in installs)
    assert re.search(r"^torch==", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "students" in groups["dependency-groups"]
    assert "grader" in groups["project"]["optional-dependencies"]
    assert [line for line in installs if "--group students" in line]
    assert [line for line in installs if '--editable ".[grader]"' in line]
    assert {"bubblewrap", "libseccomp2", "python3-venv"} <= set(TEXT.split())
    assert "download.pytorch.org/whl/cpu" in TEXT


def test_the_image_has_what_grades_and_releases_and_nothing_else_of_a_checkout() -> None:
    needed = [*copy_project(), "pyproject.toml", "README.md", "docs/students.md", "reference/linear/solution.py"]
    assert not [name for name in needed if not taken(name)]
    left = [
        ".git/config",
        ".venv/bin/python",
        "results/ada/result.json",
        "grader/tests/support/made_results.py",
        "docs/images/x.png",
    ]
    left += ["torchkata/__pycache__/values.pyc", ".env", "uv.lock", f"{course().root.name}.zip"]
    assert not [name for name in left if taken(name)]


def test_what_doctor_says_of_a_container_is_what_the_documents_say() -> None:
    user, security = IN_CONTAINER.split(" ", 2)[:2], IN_CONTAINER.split(" ", 2)[2]
    assert f"USER {user[1]}" in TEXT
    assert security in (ROOT / "docs/operators.md").read_text("utf-8")
