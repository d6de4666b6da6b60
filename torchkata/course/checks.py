"""Checks that the files of a course are consistent: its katas, tests and points."""

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from math import fsum

from .files import CourseFiles
from .handout import LIST
from .model import CourseError, Kata

TRACK_POINTS = 100  # total points of all katas in a track
TEST_DEFINITION = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def check_katas(course: CourseFiles, tracks: Collection[str], katas: Mapping[str, Kata]) -> None:
    """Raise CourseError with a one-line message for the first inconsistency.

    Every kata must have a test file and may build only on existing katas, and every stub with a test file must be a
    kata. No kata has the name of a track, because `--kata` accepts both. The points of a handout are not checked,
    because a handout may contain only part of a track and its points were checked when it was released.
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
            check_total(course, track, [kata for kata in katas.values() if kata.track == track])


def check_total(course: CourseFiles, track: str, katas: Sequence[Kata]) -> None:
    """Raise CourseError if a track has no katas or its points do not add up to `TRACK_POINTS`."""
    path = course.root / "pyproject.toml"
    if not katas:
        raise CourseError(f"{path}: the track {track} has no katas; `grader new kata NAME --track {track}` creates one")
    total = fsum(points for kata in katas for points in kata.points.values())
    if abs(total - TRACK_POINTS) > 1e-6:
        each = ", ".join(f"{kata.name} {kata.max_score:g}" for kata in katas)
        raise CourseError(
            f"{path}: the points of the track {track} add up to {total:g} instead of {TRACK_POINTS}: {each} "
            "([points] in reference/<kata>/kata.toml)"
        )


def check_tests(course: CourseFiles, kata: Kata) -> None:
    """Raise CourseError if the test functions in the test file do not match [points].

    The test file is parsed and not imported, so pytest and the grader compare again after collection.
    """
    if not kata.points:
        path = course.folder(kata.name) / "kata.toml"
        raise CourseError(f"{path}: [points] is empty; list every test of tests/test_{kata.name}.py there")
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
    points_file, test_file = course.folder(kata.name) / "kata.toml", course.test_file(kata.name)
    if extra := {*found} - {*scored}:
        place = points_file.relative_to(course.root)
        raise CourseError(f"{test_file}: {min(extra)} has no points; enter a number (0 or more) in [points] of {place}")
    if missing := {*scored} - {*found}:
        place = test_file.relative_to(course.root)
        raise CourseError(f"{points_file}: [points] names {min(missing)}, which is not a test in {place}")
