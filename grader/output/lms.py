"""Marks in the gradebook of a learning management system: its own file, with one column changed and no other byte.

Canvas exports its gradebook as CSV and imports what came back (Canvas guides, "How do I import grades in the
Gradebook?"); Moodle does so with the grading worksheet of an assignment (Moodle docs, "Offline grading worksheet").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from grader.base.errors import CallError
from grader.marks.compute import marks_of
from grader.marks.roster import Person, folded
from grader.marks.tables import separator, text_of
from grader.output.exporter import Exporter, Options, write_file

Gradebook: TypeAlias = Literal["canvas", "moodle", "csv"]
Key: TypeAlias = tuple[str, Callable[[Person], str]]  # a column, and what it says of somebody

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
MOST = {"moodle": "Maximum Grade"}  # the column with the points of which a mark is a part
POSSIBLE = "points possible"  # what begins Canvas' row with them


class GradebookError(Exception):
    """This can't be written into; the message says why, in one line."""


@dataclass(frozen=True)
class Cell:
    """Where it stands in the file, and what it says."""

    begin: int
    end: int
    text: str


def filled(
    text: str, format: Gradebook, column: str, marks: Sequence[tuple[Person, float | None]], most: float
) -> tuple[str, list[str]]:
    """The gradebook with these marks, and a line for each that has no row. None leaves a cell as it is.

    Raises GradebookError for a file without the column, for two rows of one person, and where the gradebook's most
    points are others.
    """
    lines = cells_of(text, separator(text))
    if not lines:
        raise GradebookError("it is empty")
    header = [cell.text.removeprefix("\ufeff").strip() for cell in lines[0]]
    place = place_of(column or COLUMN[format], header)
    demand_most(lines, header, place, format, most)
    edits: dict[int, tuple[Cell, float]] = {}
    problems: list[str] = []
    for person, mark in marks:
        found = rows_of(person, header, lines, KEYS[format])
        if len(found) > 1:
            raise GradebookError(f"{person.id} has rows {' and '.join(str(row + 1) for row in found)}")
        if not found:
            problems.append(f"{person.id}: has no row in the gradebook")
            continue
        if found[0] in edits:
            raise GradebookError(f"row {found[0] + 1} is {person.id}'s and another's")
        if len(lines[found[0]]) <= place:
            raise GradebookError(f"row {found[0] + 1} has no cell in {header[place]}")
        if mark is not None:
            edits[found[0]] = lines[found[0]][place], mark
    for cell, mark in sorted(edits.values(), key=lambda edit: edit[0].begin, reverse=True):
        quote = '"' if text[cell.begin : cell.begin + 1] == '"' else ""
        text = f"{text[: cell.begin]}{quote}{mark:.10g}{quote}{text[cell.end :]}"
    return text, problems


def place_of(column: str, header: Sequence[str]) -> int:
    """Where the column stands, by its whole name or, as Canvas adds a number in brackets, by the name before it."""
    places = [place for place, name in enumerate(header) if column and name == column]
    places = places or [place for place, name in enumerate(header) if column and name.startswith(f"{column} (")]
    if len(places) != 1:
        what = f"{len(places)} columns {column}" if column else "no column said (--column NAME)"
        raise GradebookError(f"{what}; there are {', '.join(header)}")
    return places[0]


def rows_of(person: Person, header: Sequence[str], lines: Sequence[Sequence[Cell]], keys: Sequence[Key]) -> list[int]:
    """The rows that are somebody's, by the first column that knows them."""
    for name, value in keys:
        wanted = folded(value(person))
        if name in header and wanted:
            place = header.index(name)
            those = [
                row
                for row, line in enumerate(lines)
                if row and len(line) > place and folded(line[place].text) == wanted
            ]
            if those:
                return those
    return []


def demand_most(
    lines: Sequence[Sequence[Cell]], header: Sequence[str], place: int, format: Gradebook, most: float
) -> None:
    """Raise GradebookError where the gradebook's most points are not those of the results."""
    said = [line[place].text for line in lines[1:] if line[0].text.strip().casefold() == POSSIBLE and len(line) > place]
    if (name := MOST.get(format)) in header:
        column = header.index(name)
        said += [line[column].text for line in lines[1:] if len(line) > column]
    for text in said:
        if text.strip() and (number := number_of(text)) is not None and number != most:
            raise GradebookError(f"its most points are {text.strip()}, and those of the results {most:g}")


def number_of(text: str) -> float | None:
    """A number with a point or a comma; None for what is none."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def cells_of(text: str, separator: str) -> list[list[Cell]]:
    """Every cell of a CSV with its place, by RFC 4180: quotes may hold separators, lines, and quotes twice."""
    lines: list[list[Cell]] = []
    line: list[Cell] = []
    at = 0
    while at < len(text):
        begin = at
        if text[at] == '"':
            at += 1
            while at < len(text) and (text[at] != '"' or text[at : at + 2] == '""'):
                at += 2 if text[at] == '"' else 1
            at = min(at + 1, len(text))
            said = text[begin + 1 : at - 1].replace('""', '"')
        else:
            while at < len(text) and text[at] not in (separator, "\r", "\n"):
                at += 1
            said = text[begin:at]
        line.append(Cell(begin, at, said))
        if text[at : at + 1] == separator:
            at += 1
            if at < len(text) and text[at] not in "\r\n":
                continue
            line.append(Cell(at, at, ""))
        elif at < len(text) and text[at] not in "\r\n":
            raise GradebookError(f"row {len(lines) + 1} goes on after a quoted cell")
        at += 2 if text[at : at + 2] == "\r\n" else 1
        lines.append(line)
        line = []
    return lines


def gradebook_exporter(format: Gradebook) -> Exporter:
    """Return the exporter that fills the gradebook of this system with everybody's mark."""

    def export(directory: Path, options: Options) -> list[str]:
        if options.people is None or options.gradebook is None:
            raise CallError(f"--format {format} needs --class FOLDER and --gradebook FILE")
        rows, problems = marks_of(directory, options.people)
        most = max((row.max_score for row in rows if row.max_score is not None), default=0.0)
        marks = [(row.person, row.mark.final) for row in rows]
        try:
            text, more = filled(text_of(options.gradebook), format, options.column, marks, most)
        except GradebookError as error:
            raise CallError(f"{options.gradebook}: {error}") from None
        write_file(options.to, text.encode())
        return [*problems, *more]

    return Exporter(export, frozenset({"people", "gradebook", "column"}))
