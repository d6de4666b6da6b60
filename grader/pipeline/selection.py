"""What a command is about: which course, and which katas: `--kata`, `--track`, or those that the course grades."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from grader.base.errors import CallError
from torchkata.course import CourseError, Kata, course, find_course, is_chosen


def demand_own_course(submissions: Sequence[Path]) -> None:
    """Raises CallError where nobody named a course, and the nearest lies in a hand-in: its tests are the student's."""
    found = None if is_chosen() else find_course(Path.cwd())
    for path in submissions:
        if found is not None and found.is_relative_to(path.resolve()):
            raise CallError(
                f"{path}: the course that is nearest from here ({found}) lies in this hand-in, so its tests are the "
                "student's; name yours: grader --course DIR grade"
            )


def wanted(names: Sequence[str], tracks: Sequence[str]) -> tuple[str, ...]:
    """The names of these katas and of all in these tracks, of those that the course grades for neither.

    Raises CallError.
    """
    return tuple(kata.name for kata in choose(names, tracks if names or tracks else course().graded))


def choose(names: Sequence[str], tracks: Sequence[str] = ()) -> tuple[Kata, ...]:
    """These katas and those of these tracks, all for neither. Raises CallError."""
    try:
        return tuple(course().choose(names, tracks))
    except CourseError:
        raise
    except ValueError as error:
        raise CallError(str(error)) from None


def demand_gradable(katas: Sequence[Kata]) -> None:
    """Raise CourseError for a file or a package that grading these katas needs and that is missing."""
    for package in course().preload:
        if find_spec(package) is None:
            path = course().root / "pyproject.toml"
            raise CourseError(f"{path}: [tool.torchkata]: preload names {package!r}, which is not installed")
    for kata in katas:
        for name in course().foundations(kata.name):
            path = course().fallback(name)
            if not path.is_file():
                raise CourseError(f"{path} is missing: {kata.name} builds on {name}, which some students will not have")
