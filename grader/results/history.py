"""What has changed about a kata between two versions of its course: tests, other files, and the commits that did it."""

import ast
import subprocess
from collections.abc import Iterator

from grader.results.dependencies import find_kata_files
from torchkata.course import cached_by_course, course

NOT_COMMITTED = "+"
RULES = (
    "conftest.py",
    *(f":(glob){folder}/**/*.{kind}" for folder in ("tests", "reference") for kind in ("py", "toml")),
)


@cached_by_course
def course_version() -> str:
    """The commit of the course, with a mark where what is asked is not committed; "" where it is no git checkout."""
    asked = (("rev-parse", "HEAD"), ("status", "--porcelain", "--", *RULES))
    command = ["git", "-C", str(course().root)]
    try:
        said = [subprocess.run([*command, *one], capture_output=True, text=True, check=True).stdout for one in asked]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said[0].strip() + (NOT_COMMITTED if said[1] else "")


def changes(kata: str, old: str, new: str) -> str:
    """One line: the tests that differ, else the files, and the commits in between as far as git knows them."""
    versions = [version.removesuffix(NOT_COMMITTED) for version in (old, new)]
    if kata not in course().katas or not all(versions):
        return f"{kata}: what is asked has changed"
    root, tests = course().root, f"tests/test_{kata}.py"
    files = [path.relative_to(root).as_posix() for path in find_kata_files(kata)]
    span = "..".join(versions)
    changed = git("diff", "--name-only", "--relative", span, "--", *files).splitlines()
    what = [f"{tests}::{name}" for name in differing(source(tests, old), source(tests, new))] or changed
    why = git("log", "--format=%h %s", span, "--", *files).splitlines()
    why += ["what is not committed"] if new.endswith(NOT_COMMITTED) else []
    told = f" by {'; '.join(why)}" if why else ""
    return f"{kata}: {', '.join(what) or 'what is asked'} changed{told}"


def source(path: str, version: str) -> str:
    """A file of the course as it was, or as it lies there if that was not committed; "" where there is none."""
    if version.endswith(NOT_COMMITTED):
        return (course().root / path).read_text("utf-8")
    return git("show", f"{version}:./{path}")


def git(*arguments: str) -> str:
    """What git says of the course's checkout; "" where it does not know."""
    command = ["git", "-C", str(course().root), *arguments]
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def differing(old: str, new: str) -> Iterator[str]:
    """The tests of a module that are others, new or gone; a change of layout is none."""
    before, after = tests_of(old), tests_of(new)
    for name in dict.fromkeys([*after, *before]):
        if before.get(name) != after.get(name):
            yield name


def tests_of(text: str) -> dict[str, str]:
    """What each of them does, by name."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.dump(node) for node in functions if node.name.startswith("test_")}
