"""Where a packaged grader comes from: a copy of what grading needs of this project, or a commit to fetch."""

import re
from pathlib import Path

from grader.errors import CallError
from torchkata.catalog import ROOT

NEEDED = (
    "conftest.py",
    "torchkata",
    "grader",
    "tests",
    "reference/__init__.py",
    "reference/oracle",
    "reference/misconceptions",
)
NEEDED_TO_INSTALL = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
LEFT_OUT = ("grader/tests", "grader/certify", "grader/package")
COMMIT = re.compile(r"[0-9a-f]{40}")
URL = re.compile(r"([a-z]+://|git@)[!-~]+")  # printable, no space


def copy() -> dict[str, bytes]:
    """The files that grading needs, by path: not the solution, the zoo, the examples, nor the grader's own tests."""
    paths = [path for name in (*NEEDED, *NEEDED_TO_INSTALL) for path in files_of(ROOT / name)]
    named = {path.relative_to(ROOT).as_posix(): path for path in paths}
    return {
        name: path.read_bytes()
        for name, path in sorted(named.items())
        if not name.startswith(tuple(f"{folder}/" for folder in LEFT_OUT))
    }


def files_of(path: Path) -> list[Path]:
    """The file, or what is in the folder and was written by hand."""
    if path.is_file():
        return [path]
    return [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]


def origin(source: str) -> bytes:
    """`URL@COMMIT` as `install.sh` reads it. Raises CallError."""
    url, _, commit = source.rpartition("@")
    if COMMIT.fullmatch(commit) is None:
        raise CallError(f"--source {source}: name the commit, URL@COMMIT with all 40 digits; a branch changes unseen")
    if URL.fullmatch(url) is None:
        raise CallError(f"--source {source}: {url or 'nothing'} is no address of a repository")
    return f"{url} {commit}\n".encode()
