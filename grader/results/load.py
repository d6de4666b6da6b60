"""The class as it is stored: of each result only what a table needs, so that a large class stays small in memory."""

from pathlib import Path

from msgspec.structs import replace

from grader.base.errors import CallError
from grader.results.result import Result, ResultError, read


def rows(directory: Path) -> tuple[list[Result], list[str]]:
    """All results of a directory, by submission, without tests and messages; a line for each that can't be read."""
    found: list[Result] = []
    problems: list[str] = []
    for path in stored_in(directory).values():
        try:
            found.append(row(read(path)))
        except ResultError as error:
            problems.append(str(error))
    return found, problems


def row(result: Result) -> Result:
    """What a table needs of a result."""
    return replace(
        result,
        katas=[replace(kata, tests=()) for kata in result.katas],
        performance=[replace(timed, message="") for timed in result.performance],
    )


def stored_in(directory: Path) -> dict[str, Path]:
    """The files of the results in a directory, in the order of their submissions."""
    return {
        path.parent.name: path for path in sorted(directory.glob("*/result.json"), key=lambda path: path.parent.name)
    }


def demand_results(directory: Path) -> None:
    """Raises CallError where there are none."""
    if not directory.is_dir():
        raise CallError(f"{directory}: there is no such directory")
    if not stored_in(directory):
        raise CallError(f"{directory}: there are no results in it (<submission>/result.json)")
