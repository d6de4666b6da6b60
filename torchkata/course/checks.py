"""Checks that the files of a course are consistent: its katas, tracks and tests."""

import ast
import re
from collections.abc import Collection, Mapping

from .files import CourseFiles
from .handout import LIST
from .model import CourseError, Kata

TEST_DEFINITION = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def check_katas(course: CourseFiles, tracks: Collection[str], katas: Mapping[str, Kata]) -> None:
    """Raise CourseError with a one-line message for the first inconsistency.

    Every kata must have a test file and may build only on existing katas, and every stub with a test file must be a
    kata. No kata has the name of a track, because `--kata` accepts both. Tracks and tests of a handout are not checked:
    a handout may lack tracks, and its tests were checked when it was released.
    """
    for name, kata in katas.items():
        path = course.folder(name) / "kata.toml"
        if name in (*tracks, "all"):
            raise CourseError(f"{path}: {name} is the name of a track; rename the kata")
        if unknown := {*kata.builds_on} - katas.keys():
            raise CourseError(f"{path}: builds_on names {min(unknown)!r}, which is not a kata")
        if name in kata.builds_on:
            raise CourseError(f"{path}: builds_on names {name!r}, the kata itself")
        if not course.test_file(name).is_file():
            raise CourseError(f"{course.folder(name)}: the kata {name} has no tests (tests/test_{name}.py)")
    for path in sorted(course.tests.glob("test_*.py")):
        name = path.stem.removeprefix("test_")
        if name not in katas and course.stub(name).is_file():
            raise CourseError(f"{path}: there is no kata of this name (reference/{name}/kata.toml)")
    if not (course.root / LIST).is_file():  # this file exists only in a handout
        for kata in katas.values():
            check_tests(course, kata)
        for track in tracks:
            if not any(kata.track == track for kata in katas.values()):
                remedy = f"`grader new kata NAME --track {track}` creates one"
                raise CourseError(f"{course.root / 'pyproject.toml'}: the track {track} has no katas; {remedy}")


def check_tests(course: CourseFiles, kata: Kata) -> None:
    """Raise CourseError if the test functions in the test file do not match [tests].

    The test file is parsed and not imported, so pytest and the grader compare again after collection.
    """
    source = course.test_file(kata.name).read_text("utf-8", errors="replace")
    found = {*TEST_DEFINITION.findall(source)}
    if found - kata.test_functions:
        found &= parse_functions(source)  # excludes definitions in strings
    found |= {name for name in kata.test_functions - found if re.search(rf"\b{re.escape(name)}\b", source)}
    compare_tests(course, kata, found, kata.test_functions)


def parse_functions(source: str) -> set[str]:
    """Return the names of the functions in a module, or an empty set if Python can't parse it."""
    try:
        nodes = ast.parse(source).body
    except (SyntaxError, ValueError):
        return set()
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def compare_tests(course: CourseFiles, kata: Kata, found: Collection[str], scored: Collection[str]) -> None:
    """Raise CourseError if a test was found but is not in `scored`, or is in `scored` but was not found."""
    settings, test_file = course.folder(kata.name) / "kata.toml", course.test_file(kata.name)
    if extra := {*found} - {*scored}:
        place = settings.relative_to(course.root)
        raise CourseError(f"{test_file}: {min(extra)} has no points; list it in [tests] of {place}")
    if missing := {*scored} - {*found}:
        place = test_file.relative_to(course.root)
        raise CourseError(f"{settings}: [tests] names {min(missing)}, which is not a test in {place}")
