"""Loads the results in a directory one by one, so that a large class fits in memory."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from grader.base.errors import CallError
from grader.results.result import KataResult, Result, ResultError, read
from torchkata.result import TestResult

T = TypeVar("T")
Shared = TypeVar("Shared", bound=Hashable)


def read_all(directory: Path, convert: Callable[[Result], T]) -> tuple[dict[str, T], list[str]]:
    """Return the converted results, keyed by submission, and a message for each that can't be loaded or converted.

    `convert` can raise a ValueError that contains the reason.
    """
    problems: list[str] = []
    return dict(read_each(directory, convert, problems)), problems


def read_each(
    directory: Path, convert: Callable[[Result], T], problems: list[str], submissions: Iterable[str] | None = None
) -> Iterator[tuple[str, T]]:
    """Yield the id and the converted result of each submission. For each failure, append a message to `problems`.

    By default, all `submissions` in the directory are read.
    """
    if submissions is None:
        submissions = [*list_results(directory)]  # the paths of a large class take more memory than the names
    for submission in submissions:
        path = directory / submission / "result.json"
        try:
            yield submission, convert(read(path))
        except ResultError as error:
            problems.append(str(error))
        except ValueError as error:
            problems.append(f"{path}: {error}")


def drop_details(result: Result) -> Result:
    """Return a result without the values that tables do not need. Results share equal values to save memory.

    Of the tests, only those with a fault are kept (see `faults`).
    """
    return replace(
        result,
        isolation=share(result.isolation),
        device=share(result.device),
        schema=share(result.schema),
        environment={name: share(value) for name, value in result.environment.items() if name == "device"},
        katas=[share(replace(kata, tests=find_faulty(kata), digest="", kept="")) for kata in result.katas],
        performance=[replace(timed, message="") for timed in result.performance],
        **dict.fromkeys(("course", "hand_in"), ""),
    )


def find_faulty(kata: KataResult) -> tuple[TestResult, ...]:
    """Return the waived and inconclusive tests, without their messages."""
    faulty = [test for test in kata.tests if test.outcome in ("waived", "inconclusive")]
    return tuple(TestResult(test.name, test.outcome, cause=test.cause) for test in faulty)


@cache
def share(value: Shared) -> Shared:
    """Return the first equal value that was passed to this function, so that equal values share memory."""
    return value


def list_results(directory: Path) -> dict[str, Path]:
    """Return the paths of the results in a directory, sorted by submission."""
    return {
        path.parent.name: path for path in sorted(directory.glob("*/result.json"), key=lambda path: path.parent.name)
    }


def demand_results(directory: Path) -> None:
    """Raise CallError if the directory contains no results."""
    if not directory.is_dir():
        raise CallError(f"{directory}: there is no such directory")
    if not list_results(directory):
        raise CallError(f"{directory}: contains no results (<submission>/result.json)")
