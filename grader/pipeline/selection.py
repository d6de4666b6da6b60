"""Selects the course and katas that a command applies to, and the values of options that were not given."""

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from grader.base.errors import CallError
from grader.options import STORED, GradeOptions
from grader.pipeline.machine import count_jobs
from torchkata.course import CourseError, Kata, course, find_course, is_chosen


def demand_own_course(submissions: Sequence[Path]) -> None:
    """Raise CallError if no course is given and the nearest course is inside one of these submissions."""
    found = None if is_chosen() else find_course(Path.cwd())
    for path in submissions:
        if found is not None and found.is_relative_to(os.path.realpath(path)):
            raise CallError(
                f"{path}: the nearest course ({found}) is in this submission, so the student's tests would be used; "
                "specify your course: grader --course DIR grade"
            )


def select_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of these katas and of all katas in these tracks (default: the graded tracks).

    Raises CallError if a name is unknown.
    """
    return tuple(kata.name for kata in choose(names or course().graded))


def settle(options: GradeOptions) -> GradeOptions:
    """Return the options with the katas, jobs and seed that were not given. Raises CallError if a value is invalid."""
    from grader.pipeline.seed import load_or_draw

    return replace(
        options,
        katas=select_names(options.katas),
        jobs=options.jobs or count_jobs(),
        seed=load_or_draw(options.out) if options.seed == STORED else options.seed,
        # otherwise, a node of a cluster might silently grade with weaker isolation
        isolation="bwrap" if options.slurm and options.isolation == "auto" else options.isolation,
    )


def choose(names: Sequence[str]) -> tuple[Kata, ...]:
    """Return these katas and all katas in these tracks (default: all katas). Raises CallError if a name is unknown."""
    try:
        return tuple(course().choose(names))
    except CourseError:
        raise
    except ValueError as error:
        raise CallError(str(error)) from None


def demand_preloaded() -> None:
    """Raise CourseError if a package that the course preloads is not installed."""
    for package in course().preload:
        if find_spec(package) is None:
            path = course().root / "pyproject.toml"
            raise CourseError(f"{path}: [tool.torchkata]: preload names {package!r}, which is not installed")
