"""The course: its folder, its katas, and the checks of its files.

    pyproject.toml               [tool.torchkata]: title, tracks, limits, languages, …
    assignment/<kata>.py         the stub
    tests/test_<kata>.py          its property tests; tests/probes/<kata>.py if they build objects
    reference/<kata>/kata.toml   title, hints, points; in the same folder the oracle, mistakes, solution and zoo
    reference/workloads/         the workloads that the grader times, if any

A command uses the course that it is given, or else the nearest course. The nearest course is found by searching for a
`pyproject.toml` in the working directory and its parents.
"""

from pathlib import Path

from .checks import TRACK_POINTS, compare_tests
from .course import Course, nearest
from .current import cached_by_course, course, find_course, is_chosen, is_course, read_course, use, use_none
from .files import HIDDEN_PROGRAMS, PRIVATE
from .model import CourseError, HiddenSays, Kata, Limits, NoCourseError, Tier, Tiers, Track, Visibility, Workload

ENGINE = Path(__file__).resolve().parents[2]  # the folder that contains the packages `torchkata` and `grader`
ARCHIVES = ENGINE / "torchkata" / "archives"  # the course for self-learners and its solutions; only in a wheel

__all__ = [
    "ARCHIVES",
    "ENGINE",
    "HIDDEN_PROGRAMS",
    "PRIVATE",
    "TRACK_POINTS",
    "Course",
    "CourseError",
    "HiddenSays",
    "Kata",
    "Limits",
    "NoCourseError",
    "Tier",
    "Tiers",
    "Track",
    "Visibility",
    "Workload",
    "cached_by_course",
    "compare_tests",
    "course",
    "find_course",
    "is_chosen",
    "is_course",
    "nearest",
    "read_course",
    "use",
    "use_none",
]
