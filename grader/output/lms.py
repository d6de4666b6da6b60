"""Fills in one column of a gradebook file that was exported from a learning management system.

Canvas exports its gradebook as CSV and imports the edited file (Canvas guides, "How do I import grades in the
Gradebook?"); Moodle does the same with an assignment's grading worksheet (Moodle docs, "Offline grading worksheet").
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from grader.base.errors import CallError
from grader.marks.compute import compute_marks
from grader.marks.roster import Person, normalize
from grader.marks.tables import find_separator, read_text
from grader.output.exporter import Exporter, Options, write_file

Gradebook: TypeAlias = Literal["canvas", "moodle", "csv"]
Key: TypeAlias = tuple[str, Callable[[Person], str]]  # the name of a column, and a person's value in it

KEYS: Mapping[Gradebook, Sequence[Key]] = {
    "canvas": (
        ("ID", lambda person: person.lms_id),
        ("SIS User ID", lambda person: person.id),
        ("SIS Login ID", lambda person: person.id),
        ("SIS Login ID", lambda person: person.email),
    ),
    "moodle": (
        ("Email address", lambda person: person.email),
        ("ID number", lambda person: person.id),
        ("Username", lambda person: person.id),
        ("Full name", lambda person: person.name),
    ),
    "csv": (("id", lambda person: person.id), ("email", lambda person: person.email)),
}
COLUMN: Mapping[Gradebook, str] = {"canvas": "", "moodle": "Grade", "csv": ""}
MAXIMUM = {"moodle": "Maximum Grade"}  # the column that contains the maximum points
POSSIBLE = "points possible"  # the first cell of the row in which Canvas stores the maximum points


class GradebookError(Exception):
    """Raised if the gradebook cannot be filled in. The message gives the reason on one line."""


@dataclass(frozen=True)
class Cell:
    """The text of a cell and its position in the file."""

    begin: int
    end: int
    text: str


def fill_gradebook(
    text: str, format: Gradebook, column: str, marks: Sequence[tuple[Person, float | None]], most: float
) -> tuple[str, list[str]]:
    """Return the gradebook with these marks filled in, and a line for each person without a row.

    A person without a mark (None) is skipped. Raises GradebookError if the column is missing, a person has two rows, or
    the maximum points in the gradebook differ from `most`.
    """
    lines = parse_cells(text, find_separator(text))
    if not lines:
        raise GradebookError("the file is empty")
    header = [cell.text.removeprefix("\ufeff").strip() for cell in lines[0]]
    place = find_column(column or COLUMN[format], header)
    check_maximum(lines, header, place, format, most)
    edits: dict[int, tuple[Cell, float]] = {}
    problems: list[str] = []
    rows = index_rows(header, lines, KEYS[format])
    for person, mark in marks:
        found = find_rows(person, rows, KEYS[format])
        if len(found) > 1:
            raise GradebookError(f"{person.id} has rows {' and '.join(str(row + 1) for row in found)}")
        if not found:
            problems.append(f"{person.id}: has no row in the gradebook")
            continue
        if found[0] in edits:
            raise GradebookError(f"row {found[0] + 1} belongs to {person.id} and to another person in class.csv")
        if len(lines[found[0]]) <= place:
            raise GradebookError(f"row {found[0] + 1} has no cell in {header[place]}")
        if mark is not None:
            edits[found[0]] = lines[found[0]][place], mark
    parts, at = list[str](), 0
    for cell, mark in sorted(edits.values(), key=lambda edit: edit[0].begin):
        quote = '"' if text[cell.begin : cell.begin + 1] == '"' else ""
        parts += [text[at : cell.begin], f"{quote}{mark:.10g}{quote}"]
        at = cell.end
    return "".join([*parts, text[at:]]), problems


def find_column(column: str, header: Sequence[str]) -> int:
    """Return the index of a column. `column` may omit the number in parentheses that Canvas adds to the name."""
    places = [place for place, name in enumerate(header) if column and name == column]
    places = places or [place for place, name in enumerate(header) if column and name.startswith(f"{column} (")]
    if len(places) != 1:
        what = f"{len(places)} columns are called {column}" if column else "choose a column with --column NAME"
        raise GradebookError(f"{what}; the columns are {', '.join(header)}")
    return places[0]


def index_rows(
    header: Sequence[str], lines: Sequence[Sequence[Cell]], keys: Sequence[Key]
) -> dict[tuple[str, str], list[int]]:
    """Return the indices of the rows that contain each value, keyed by (column, value)."""
    found: dict[tuple[str, str], list[int]] = {}
    for name in {name for name, _ in keys} & {*header}:
        place = header.index(name)
        for row, line in enumerate(lines[1:], start=1):
            if len(line) > place:
                found.setdefault((name, normalize(line[place].text)), []).append(row)
    return found


def find_rows(person: Person, rows: Mapping[tuple[str, str], list[int]], keys: Sequence[Key]) -> list[int]:
    """Return the rows of a person, by the first key column in which a value matches."""
    for name, value in keys:
        wanted = normalize(value(person))
        if wanted and (name, wanted) in rows:
            return rows[name, wanted]
    return []


def check_maximum(
    lines: Sequence[Sequence[Cell]], header: Sequence[str], place: int, format: Gradebook, most: float
) -> None:
    """Raise GradebookError if the maximum points in the gradebook differ from those of the results."""
    rows = [line for line in lines[1:] if line[0].text.strip().casefold() == POSSIBLE]
    texts = [line[place].text for line in rows if len(line) > place]
    if (name := MAXIMUM.get(format)) in header:
        column = header.index(name)
        texts += [line[column].text for line in lines[1:] if len(line) > column]
    for text in texts:
        if (number := parse_number(text)) is not None and number != most:
            raise GradebookError(f"its maximum is {text.strip()} points, but the maximum of the results is {most:g}")


def parse_number(text: str) -> float | None:
    """Parse a number with a decimal point or comma. Return None for any other text."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def parse_cells(text: str, separator: str) -> list[list[Cell]]:
    """Return the cells of a CSV file and their positions.

    Quoted cells can contain separators and line breaks (RFC 4180).
    """
    pattern = re.compile(rf'"((?:[^"]|"")*)"?|([^\r\n{separator}]*)')
    lines: list[list[Cell]] = []
    line: list[Cell] = []
    at = 0
    while found := pattern.match(text, at) if at < len(text) else None:
        begin, at = found.span()
        line.append(Cell(begin, at, found[2] if found[1] is None else found[1].replace('""', '"')))
        if text[at : at + 1] == separator:
            at += 1
            if at < len(text) and text[at] not in "\r\n":
                continue
            line.append(Cell(at, at, ""))
        elif at < len(text) and text[at] not in "\r\n":
            raise GradebookError(f"row {len(lines) + 1} has text after a quoted cell")
        at += 2 if text[at : at + 2] == "\r\n" else 1
        lines.append(line)
        line = []
    return lines


def gradebook_exporter(format: Gradebook) -> Exporter:
    """Return the exporter that fills in the gradebook of this system."""

    def export(directory: Path, options: Options) -> list[str]:
        if options.people is None or options.gradebook is None:
            raise CallError(f"--format {format} needs --class FOLDER and --gradebook FILE")
        found = compute_marks(directory, options.people, accept=options.accept)
        rows = found.rows
        most = max((row.max_score for row in rows if row.max_score is not None), default=0.0)
        marks = [(row.person, row.mark.final) for row in rows]
        try:
            text, more = fill_gradebook(read_text(options.gradebook), format, options.column, marks, most)
        except GradebookError as error:
            raise CallError(f"{options.gradebook}: {error}") from None
        write_file(options.to, text.encode())
        for note in found.notes:
            print(note)
        return [*found.problems, *more]

    return Exporter(export, frozenset({"people", "gradebook", "column", "accept"}))
