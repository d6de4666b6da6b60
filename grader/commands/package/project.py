"""The source of a packaged grader: a copy of the files that grading needs, or the commit from which to fetch them."""

import re
from collections.abc import Collection
from pathlib import Path

from grader.base import distribution
from grader.base.errors import CallError
from torchkata.course import ARCHIVES, ENGINE, HIDDEN_PROGRAMS, course

LEFT_OUT = ("grader/tests", "grader/proof", "grader/commands/package")
COMMIT = re.compile(r"[0-9a-f]{40}")
URL = re.compile(r"([a-z]+://|git@)[!-~]+")  # printable characters, no spaces


def copy_project(katas: Collection[str], *, is_public: bool) -> dict[str, bytes]:
    """Return the engine and course files that grading needs, keyed by path, without solutions and `grader/proof`.

    Fallbacks and hidden programs solve katas. A public copy, which students can read, contains neither; another copy
    contains the hidden programs of these `katas` only.
    """
    engine = [path for name in ("torchkata", "grader") for path in list_engine_files(name)]
    fallbacks = () if is_public else course().reference.glob("*/fallback.py")
    programs_of = () if is_public else katas
    named = {path.relative_to(ENGINE).as_posix(): path for path in engine}
    others = [course().reference / "lint.toml", course().root / "constraints.txt", course().root / "LICENSE"]
    shared = [path for path in (*course().rules(), *fallbacks, *others) if path.is_file()]
    named |= {path.relative_to(course().root).as_posix(): path for path in shared}
    return {
        name: path.read_bytes()
        for name, path in sorted(named.items())
        if not name.startswith(tuple(f"{folder}/" for folder in LEFT_OUT))
        and (path.name != HIDDEN_PROGRAMS or path.parent.name in programs_of)
    }


def requirements() -> bytes:
    """Return the pip requirements of the grader and of student code."""
    return "".join(
        f"{line}\n" for line in sorted({*distribution.requirements("grader"), *course().dependencies})
    ).encode()


def list_engine_files(package: str) -> list[Path]:
    """Return the files of a package of the engine, without the solutions that a wheel contains."""
    return [path for path in files_of(ENGINE / package) if not path.is_relative_to(ARCHIVES)]


def files_of(path: Path) -> list[Path]:
    """Return the file at a path, or all files in the folder at this path except Python caches."""
    if path.is_file():
        return [path]
    return [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]


def parse_source(source: str) -> bytes:
    """Return `URL@COMMIT` in the format read by `install.sh`. Raises CallError if the URL or the commit is invalid."""
    url, _, commit = source.rpartition("@")
    if COMMIT.fullmatch(commit) is None:
        raise CallError(
            f"--source {source}: must be URL@COMMIT with all 40 digits of the commit, since a branch can change"
        )
    if URL.fullmatch(url) is None:
        raise CallError(f"--source {source}: {url or 'nothing'} is not the URL of a repository")
    return f"{url} {commit}\n".encode()
