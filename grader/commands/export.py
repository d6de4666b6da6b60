"""`grader export`: stored results in the format of a platform."""

import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from grader.base.errors import CallError
from grader.marks.marked import marks_of
from grader.marks.tables import text_of
from grader.output import classroom50, github, gradescope, junit, lms
from grader.output.junit import Stored
from grader.results import result
from grader.results.result import ResultError, write_whole
from grader.results.text import printable
from grader.results.view import unredacted

Format: TypeAlias = Literal["gradescope", "classroom50", "github", "junit", "canvas", "moodle", "csv"]


@dataclass(frozen=True)
class Options:
    """The options of `grader export`."""

    format: Format
    to: Path
    fields: tuple[str, ...]
    people: Path | None = None  # the folder of the class
    gradebook: Path | None = None
    column: str = ""


def run_export(directory: Path, options: Options) -> int:
    """Write the export; the exit code. Raises CallError before anything is written."""
    match options.format:
        case "canvas" | "moodle" | "csv" as format:
            return export_marks(directory, format, options)
    if options.people or options.gradebook or options.column:
        raise CallError(f"--class, --gradebook and --column are for --format {', '.join(lms.KEYS)}")
    stored, problems = load(directory)
    fields = parse(options.fields, options.format)
    try:
        problems += write(stored, fields, options)
    except ValueError as error:
        raise CallError(str(error)) from None
    except OSError as error:
        raise CallError(f"--to {options.to}: can't write there ({error.strerror})") from None
    return told(problems)


def export_marks(directory: Path, format: lms.Gradebook, options: Options) -> int:
    """Write a gradebook with everybody's mark in it; 2 where something is to be settled by hand. Raises CallError."""
    if options.people is None or options.gradebook is None:
        raise CallError(f"--format {format} needs --class FOLDER and --gradebook FILE")
    parse(options.fields, format)
    rows, problems = marks_of(directory, options.people)
    most = max((row.max_score for row in rows if row.max_score is not None), default=0.0)
    marks = [(row.person, row.mark.final) for row in rows]
    try:
        filled, more = lms.filled(text_of(options.gradebook), format, options.column, marks, most)
        write_file(options.to, filled.encode())
    except lms.GradebookError as error:
        raise CallError(f"{options.gradebook}: {error}") from None
    except OSError as error:
        raise CallError(f"--to {options.to}: can't write there ({error.strerror})") from None
    return told([*problems, *more])


def told(problems: Sequence[str]) -> int:
    """Print them; the exit code."""
    for problem in problems:
        print(f"grader: {printable(problem)}", file=sys.stderr)
    return 2 if problems else 0


def load(directory: Path) -> tuple[list[Stored], list[str]]:
    """The results in a directory, by submission, and a line for each that can't be shown. Raises CallError for none."""
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


def parse(fields: Sequence[str], format: Format) -> dict[str, str]:
    """`NAME=VALUE` as a table. Raises CallError."""
    if fields and format != "classroom50":
        raise CallError("--field is for --format classroom50 alone")
    pairs = [field.partition("=") for field in fields]
    for name, equals, _ in pairs:
        if not equals:
            raise CallError(f"--field {name}: it is written NAME=VALUE")
    return {name: value for name, _, value in pairs}


def write(stored: Sequence[Stored], fields: Mapping[str, str], options: Options) -> list[str]:
    """Render everything, then write it; a line for each file that can't be written, while others can.

    Raises ValueError, and OSError where nothing can.
    """
    match options.format:
        case "gradescope":
            return write_each(stored, lambda one: gradescope.render(one.result), options.to)
        case "classroom50":
            return write_each(stored, lambda one: classroom50_file(one, fields), options.to)
        case "junit":
            write_file(options.to, junit.render(stored, hostname=platform.node()))
        case "github" if len(stored) == 1:
            write_file(options.to, github.summary(stored[0].result).encode())
            for line in github.annotations(stored[0].result):
                print(line)
        case "github":
            write_file(options.to, github.class_summary([one.result for one in stored]).encode())
    return []


def classroom50_file(stored: Stored, fields: Mapping[str, str]) -> bytes:
    """One submission's file; `{submission}` in a field stands for its id."""
    own = {name: value.replace("{submission}", stored.result.submission) for name, value in fields.items()}
    return classroom50.render(stored.result, classroom50.about(own, os.environ), stored.at)


def write_each(stored: Sequence[Stored], render: Callable[[Stored], bytes], to: Path) -> list[str]:
    """A file for one submission; for several, or where a directory is, a directory with one for each.

    A line for each file that can't be written: its name may be too long. Raises OSError where none can.
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
    """Whole or not at all, in a directory that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
