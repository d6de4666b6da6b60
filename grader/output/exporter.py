"""The code shared by all export formats: loading stored results one by one, and writing files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from grader.base.errors import CallError
from grader.base.files import write_whole
from grader.marks.waive import read_waivers
from grader.options import ExportOptions
from grader.results.faults import demand_settled, list_faults
from grader.results.load import list_results, read_all, read_each
from grader.results.result import Result

T = TypeVar("T")


@dataclass(frozen=True)
class Exporter:
    """An export format: the function that writes it, and the options that it accepts in addition to `--out`."""

    write: Callable[[Path, ExportOptions], list[str]]  # called with the results directory; returns one line per problem
    takes: frozenset[str] = frozenset()  # names of fields


@dataclass(frozen=True)
class Stored:
    """A result and the time at which it was stored."""

    result: Result
    at: datetime


def convert_each(
    directory: Path, convert: Callable[[Stored], T], problems: list[str], folder: Path | None = None
) -> Iterator[tuple[str, T]]:
    """Yield the id and the converted result of each submission. Append a line to `problems` for each failure.

    `folder` is the folder of the class, whose waivers are applied. `convert` can raise a ValueError that contains the
    reason. Raises CallError if no result can be exported.
    """
    waive = read_waivers(folder)

    def convert_stored(result: Result) -> T:
        path = directory / result.submission / "result.json"
        return convert(Stored(waive(result), datetime.fromtimestamp(path.stat().st_mtime, UTC)))

    empty = True
    for converted in read_each(directory, convert_stored, problems):
        empty = False
        yield converted
    if empty:
        first = f"; {problems[0]}" if problems else ""
        raise CallError(f"{directory}: contains no results; pass the --out directory of `grader grade`{first}")


def write_each(directory: Path, render: Callable[[Stored], bytes], options: ExportOptions) -> list[str]:
    """Write a single file if there is one submission, otherwise a directory with one file per submission.

    Return a line for each submission that cannot be exported or whose file cannot be written (for example, because its
    name is too long). Raises CallError if no result can be exported or a test could not be graded, and OSError if no
    file can be written.
    """
    to, problems = options.out, list[str]()
    waive = read_waivers(options.people)
    faults, _ = read_all(directory, lambda result: [*list_faults(waive(result))])
    demand_settled(faults, accept=options.accept)
    single = len(list_results(directory)) == 1 and not to.is_dir()
    written, failure = 0, None
    for submission, content in convert_each(directory, render, problems, options.people):
        path = to if single else to / f"{submission}.json"
        try:
            write_file(path, content)
            written += 1
        except OSError as error:
            failure = error
            problems.append(f"{path}: can't write there ({error.strerror})")
    if failure is not None and not written:
        raise failure
    return problems


def write_file(path: Path, content: bytes | Iterator[bytes]) -> None:
    """Write a file atomically, and create its parent directories if necessary. `content` can be an iterator."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
