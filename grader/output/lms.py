"""Fills in one column of a gradebook file that was exported from a learning management system.

Canvas exports its gradebook as CSV and imports the edited file (Canvas guides, "How do I import grades in the
Gradebook?"); Moodle does the same with an assignment's grading worksheet (Moodle docs, "Offline grading worksheet").
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import CallError
from grader.base.text import count, list_names, one_line
from grader.marks.compute import compute_marks
from grader.marks.platform_tables import GRADE, MAXIMUM, NO_KEY, Gradebook, find_rows, index_rows, list_keys
from grader.marks.roster import Person, normalize
from grader.marks.tables import find_header, read_text
from grader.options import ExportOptions
from grader.output.exporter import Exporter, write_file

COLUMNS: Mapping[Gradebook, Sequence[str]] = {"canvas": (), "moodle": GRADE, "csv": ()}  # the column to fill in
NOT_COMPARED = "the maximum points were not compared, because the gradebook does not contain them"
EMPTY = ("", "-")  # cells without a grade
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
    text: str,
    format: Gradebook,
    column: str,
    marks: Sequence[tuple[Person, float | None]],
    most: float,
    *,
    overwrite: bool = False,
) -> tuple[str, list[str]]:
    """Return the gradebook with these marks filled in, and lines that say what was written and what was not.

    A person without a mark (None) is skipped. A cell with another value (such as EX for an excused student) is changed
    only with `overwrite`. Raises GradebookError if the column or every person is missing, a person has two rows, or the
    maximum points in the gradebook differ from `most`.
    """
    begin, separator = find_header(text)
    lines = parse_cells(text, separator, begin)
    if not lines:
        raise GradebookError("the file is empty")
    header = [cell.text.strip() for cell in lines[0]]
    place = find_column(column, header, COLUMNS[format])
    notes = [] if check_maximum(lines, header, place, most) or format == "csv" else [NOT_COMPARED]
    rows = [[cell.text for cell in line] for line in lines]
    keys = list_keys(format, [*map(normalize, header)], rows[1:])
    if not keys:
        raise GradebookError(f"{NO_KEY}; the columns are {', '.join(header)}")
    index = index_rows(keys, [[], *rows[1:]])
    edits: dict[int, tuple[Cell, float]] = {}
    taken: set[int] = set()
    absent: list[str] = []
    kept: list[str] = []
    for person, mark in marks:
        found = find_rows(person, keys, index)
        if len(found) > 1:
            raise GradebookError(f"{person.id} has rows {' and '.join(str(row + 1) for row in found)}")
        if not found:
            absent.append(person.id)
            continue
        (row,) = found
        if row in taken:
            raise GradebookError(f"row {row + 1} belongs to {person.id} and to another person in class.csv")
        if len(lines[row]) <= place:
            raise GradebookError(f"row {row + 1} has no cell in {header[place]}")
        taken.add(row)
        cell = lines[row][place]
        if mark is not None and (overwrite or cell.text.strip() in EMPTY or parse_number(cell.text) == mark):
            edits[row] = cell, mark
        elif mark is not None:
            kept.append(f"{person.id}: {cell.text.strip()}")
    if not taken and marks:
        raise GradebookError(f"nobody in class.csv is in this gradebook; the columns are {', '.join(header)}")
    are = "person is" if len(absent) == 1 else "people are"
    others = f"; {len(absent)} {are} not in this gradebook: {list_names(absent)}" if absent else ""
    notes.insert(0, f"wrote {count(len(edits), 'row')}{others}")
    if kept:
        cells = count(len(kept), "cell")
        notes.append(f"kept {cells} with another value (--force replaces them): {list_names(kept)}")
    parts, at = list[str](), 0
    for cell, mark in sorted(edits.values(), key=lambda edit: edit[0].begin):
        quote = '"' if text[cell.begin : cell.begin + 1] == '"' else ""
        parts += [text[at : cell.begin], f"{quote}{mark:.10g}{quote}"]
        at = cell.end
    return "".join([*parts, text[at:]]), notes


def find_column(column: str, header: Sequence[str], usual: Sequence[str]) -> int:
    """Return the index of a column, which is one of the `usual` ones if no name is given.

    `column` may omit the number in parentheses that Canvas adds to the name.
    """
    if not column:
        places = [place for place, name in enumerate(header) if normalize(name) in usual]
    else:
        places = [place for place, name in enumerate(header) if name == column]
        places = places or [place for place, name in enumerate(header) if name.startswith(f"{column} (")]
    if len(places) != 1:
        what = f"{len(places)} columns are called {column}" if column else "choose a column with --column NAME"
        raise GradebookError(f"{what}; the columns are {', '.join(header)}")
    return places[0]


def check_maximum(lines: Sequence[Sequence[Cell]], header: Sequence[str], place: int, most: float) -> bool:
    """Return whether the gradebook contains the maximum points.

    Raises GradebookError if they differ from the maximum of the marks.
    """
    rows = [line for line in lines[1:] if line[0].text.strip().casefold() == POSSIBLE]
    texts = [line[place].text for line in rows if len(line) > place]
    for column in [column for column, name in enumerate(header) if normalize(name) in MAXIMUM]:
        texts += [line[column].text for line in lines[1:] if len(line) > column]
    numbers = [(number, text.strip()) for text in texts if (number := parse_number(text)) is not None]
    for number, text in numbers:
        if number != most:
            raise GradebookError(
                f"its maximum is {text} points, but the maximum of the marks is {most:g}; to scale the marks, add "
                f"out_of = {number:g} to policy.toml"
            )
    return bool(numbers)


def parse_number(text: str) -> float | None:
    """Parse a number with a decimal point or comma. Return None for any other text."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def parse_cells(text: str, separator: str, at: int = 0) -> list[list[Cell]]:
    """Return the cells of a CSV file that begins at a position, with their positions.

    Quoted cells can contain separators and line breaks (RFC 4180).
    """
    pattern = re.compile(rf'"((?:[^"]|"")*)"?|([^\r\n{separator}]*)')
    lines: list[list[Cell]] = []
    line: list[Cell] = []
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

    def export(directory: Path, options: ExportOptions) -> list[str]:
        if options.people is None or options.gradebook is None:
            raise CallError(f"--format {format} needs --class FOLDER and --gradebook FILE")
        found = compute_marks(directory, options.people, accept=options.accept)
        most = max((row.out_of for row in found.rows if row.out_of is not None), default=0.0)
        marks = [(row.person, row.mark.final) for row in found.rows]
        before = read_text(options.gradebook)
        try:
            text, notes = fill_gradebook(before, format, options.column, marks, most, overwrite=options.force)
        except GradebookError as error:
            raise CallError(f"{options.gradebook}: {error}") from None
        write_file(options.out, text.encode())
        for note in [*notes, *found.notes]:
            print(one_line(note))
        for warning in found.warnings:
            print(f"grader: {one_line(warning)}", file=sys.stderr)
        return found.problems

    return Exporter(export, frozenset({"people", "gradebook", "column", "accept", "force"}))
