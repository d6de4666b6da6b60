"""Where a packaged grader comes from: a copy of what grading needs of this project, or a commit to fetch."""

import re
from pathlib import Path

from grader.base import distribution
from grader.base.errors import CallError
from torchkata.course import ENGINE, course

LEFT_OUT = ("grader/tests", "grader/proof", "grader/commands/package")
COMMIT = re.compile(r"[0-9a-f]{40}")
URL = re.compile(r"([a-z]+://|git@)[!-~]+")  # printable, no space


def copy() -> dict[str, bytes]:
    """The files that grading needs, by path: engine and course, without what proves the tests or solves them."""
    engine = [path for name in ("torchkata", "grader") for path in files_of(ENGINE / name)]
    fallbacks = [*course().reference.glob("*/fallback.py"), course().reference / "lint.toml"]
    named = {path.relative_to(ENGINE).as_posix(): path for path in engine}
    ours = [*course().rules(), *fallbacks, course().root / "constraints.txt", course().root / "LICENSE"]
    named |= {path.relative_to(course().root).as_posix(): path for path in ours if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in sorted(named.items())
        if not name.startswith(tuple(f"{folder}/" for folder in LEFT_OUT))
    }


def requirements() -> bytes:
    """What the grader and the students' code import, for pip."""
    return "".join(
        f"{line}\n" for line in sorted({*distribution.requirements("grader"), *course().dependencies})
    ).encode()


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
