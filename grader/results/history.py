"""Finds what has changed in a kata between two versions of the course: tests, other files, and the commits."""

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
    """Return the commit of the course, with "+" if it has uncommitted changes that affect points ("" without git)."""
    head, changed = git("rev-parse", "HEAD").strip(), git("status", "--porcelain", "--", *RULES)
    return head + (NOT_COMMITTED if changed else "")


def describe_changes(kata: str, old: str, new: str) -> str:
    """Return a line with the changed tests of a kata (or its changed files) and, if known, the commits."""
    versions = [version.removesuffix(NOT_COMMITTED) for version in (old, new)]
    if kata not in course().katas or not all(versions):
        return f"{kata}: its tests or settings, the options or the grader have changed"
    root, tests = course().root, f"tests/test_{kata}.py"
    files = [path.relative_to(root).as_posix() for path in find_kata_files(kata)]
    span = "..".join(versions)
    changed = git("diff", "--name-only", "--relative", span, "--", *files).splitlines()
    what = [f"{tests}::{name}" for name in changed_tests(read_at(tests, old), read_at(tests, new))] or changed
    why = git("log", "--format=%h %s", span, "--", *files).splitlines()
    why += ["uncommitted changes"] if new.endswith(NOT_COMMITTED) else []
    named = ", ".join(what) or "the settings, the options or the grader"
    return f"{kata}: {named} changed{' by ' if why else ''}{'; '.join(why)}"


def read_at(path: str, version: str) -> str:
    """Return the text of a course file in a version, or "" if it did not exist. Uncommitted text is read from disk."""
    if version.endswith(NOT_COMMITTED):
        return (course().root / path).read_text("utf-8")
    return git("show", f"{version}:./{path}")


def git(*arguments: str) -> str:
    """Return the output of a git command that is run in the course, or "" if it fails."""
    command = ["git", "-C", str(course().root), *arguments]
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def changed_tests(old: str, new: str) -> Iterator[str]:
    """Yield the tests in a module that were changed, added or removed, ignoring layout and comments."""
    before, after = parse_tests(old), parse_tests(new)
    for name in dict.fromkeys([*after, *before]):
        if before.get(name) != after.get(name):
            yield name


def parse_tests(text: str) -> dict[str, str]:
    """Return the syntax tree of each test in a module, keyed by the test's name."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.dump(node) for node in functions if node.name.startswith("test_")}
