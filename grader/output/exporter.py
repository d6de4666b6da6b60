"""What every export format has in common: its options, reading stored results, and writing files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.base.errors import CallError
from grader.results import result
from grader.results.result import Result, ResultError, write_whole
from grader.results.view import unredacted


@dataclass(frozen=True)
class Options:
    """The options of `grader export`."""

    to: Path
    fields: tuple[str, ...] = ()  # NAME=VALUE
    people: Path | None = None  # the folder of the class
    gradebook: Path | None = None
    column: str = ""


OPTIONS = {"fields": "--field", "people": "--class", "gradebook": "--gradebook", "column": "--column"}


@dataclass(frozen=True)
class Exporter:
    """A format: the options that it takes beside `--to`, and the function that writes it."""

    write: Callable[[Path, Options], list[str]]  # from a directory of results; returns one line for each problem
    takes: frozenset[str] = frozenset()  # keys of OPTIONS


@dataclass(frozen=True)
class Stored:
    """A result and the time at which it was stored."""

    result: Result
    at: datetime


def load_results(directory: Path) -> tuple[list[Stored], list[str]]:
    """Return the results in a directory by submission, and one line for each file that cannot be exported.

    Raises CallError if there is no result.
    """
    stored: list[Stored] = []
    problems: list[str] = []
    for path in sorted(directory.glob("*/result.json")):
        try:
            found = result.read(path)
            unredacted(found)
        except ResultError as error:
            problems.append(str(error))
        except ValueError as error:
            problems.append(f"{path}: {error}")
        else:
            stored.append(Stored(found, datetime.fromtimestamp(path.stat().st_mtime, UTC)))
    if not stored:
        names = f"; {problems[0]}" if problems else ""
        raise CallError(f"{directory}: no results there (a directory that `grader grade --out` wrote){names}")
    return stored, problems


def write_each(stored: Sequence[Stored], render: Callable[[Stored], bytes], to: Path) -> list[str]:
    """Write one file for one submission; for several, or if `to` is a directory, one file each in a directory.

    Returns one line for each file that cannot be written, for example since its name is too long. Raises OSError if
    no file can be written.
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
    """Write a file atomically; create parent directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
