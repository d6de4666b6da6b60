"""The code shared by all export formats: options, loading stored results, and writing files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.base.errors import CallError
from grader.results.load import read_all
from grader.results.result import Result, write_whole
from grader.results.view import view_as_instructor


@dataclass(frozen=True)
class Options:
    """The options of `grader export`."""

    to: Path
    fields: tuple[str, ...] = ()  # NAME=VALUE
    people: Path | None = None  # the folder that describes the class
    gradebook: Path | None = None
    column: str = ""


OPTIONS = {"fields": "--field", "people": "--class", "gradebook": "--gradebook", "column": "--column"}


@dataclass(frozen=True)
class Exporter:
    """An export format: the function that writes it, and the options that it accepts in addition to `--to`."""

    write: Callable[[Path, Options], list[str]]  # called with the results directory; returns one line per problem
    takes: frozenset[str] = frozenset()  # keys of OPTIONS


@dataclass(frozen=True)
class Stored:
    """A result and the time at which it was stored."""

    result: Result
    at: datetime


def load_results(directory: Path) -> tuple[list[Stored], list[str]]:
    """Return the results in a directory by submission, and a line for each file that cannot be exported.

    Raises CallError if there are no results.
    """

    def check(result: Result) -> Stored:
        view_as_instructor(result)
        path = directory / result.submission / "result.json"
        return Stored(result, datetime.fromtimestamp(path.stat().st_mtime, UTC))

    stored, problems = read_all(directory, check)
    if not stored:
        first = f"; {problems[0]}" if problems else ""
        raise CallError(f"{directory}: contains no results; give the --out directory of `grader grade`{first}")
    return list(stored.values()), problems


def write_each(stored: Sequence[Stored], render: Callable[[Stored], bytes], to: Path) -> list[str]:
    """Write a single file if there is one submission, otherwise one file per submission into a directory.

    Returns a line for each file that cannot be written, for example because its name is too long. Raises OSError if
    none of the files can be written.
    """
    files = {one.result.submission: render(one) for one in stored}
    if len(files) == 1 and not to.is_dir():
        write_file(to, next(iter(files.values())))
        return []
    problems: list[str] = []
    for submission, content in files.items():
        path = to / f"{submission}.json"
        try:
            write_file(path, content)
        except OSError as error:
            problems.append(f"{path}: can't write there ({error.strerror})")
            if len(problems) == len(files):
                raise
    return problems


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically, creating parent directories if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
