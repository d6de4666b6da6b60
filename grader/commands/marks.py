"""`grader marks`: computes the mark of each student from the stored results and the instructor's rules."""

import shlex
from dataclasses import fields
from pathlib import Path

from grader.base.errors import CallError, convert_write_errors
from grader.base.files import write_whole
from grader.base.terminal import create_console
from grader.marks.compute import PersonMark, compute_marks
from grader.marks.platform_tables import WORKSHEET, make_roster, read_worksheet_times
from grader.marks.roster import Person
from grader.output.gradebook import CellValue, encode_csv
from grader.output.summary import print_problems

MARKS = "marks.csv"
LIST = [column.name for column in fields(Person)]
ABOUT = [column.name for column in fields(Person) if column.name != "submission"]
FIGURES = ("submission", "raw", "max_score", "days_late", "late", "override", "final", "reasons")


def run_marks(directory: Path, folder: Path, source: Path | None = None, *, accept: bool, excel: bool) -> int:
    """Write CLASS/marks.csv, and first CLASS/class.csv if it is made from `source`.

    Return 2 if there are problems to resolve by hand. Raises CallError if there are no results, or if a file in CLASS
    is invalid or can't be written.
    """
    if source is not None:
        write_class_list(source, folder)
    marks = compute_marks(directory, folder, accept=accept)
    rows = marks.rows
    with convert_write_errors(folder / MARKS):
        write_whole(folder / MARKS, encode_csv([[*ABOUT, *FIGURES], *map(make_cells, rows)], excel=excel))
    out = create_console()
    nothing = [row.person.id for row in rows if row.mark.raw is None]
    late = sum(row.mark.days_late > 0 or (row.mark.raw is not None and row.mark.final is None) for row in rows)
    out.print(f"marks:     {folder / MARKS}")
    out.print(f"people:    {len(rows)}; {len(rows) - len(nothing)} submitted, {late} of them late")
    if nothing:
        out.print(f"missing:   {', '.join(nothing)}")
    place, people = shlex.quote(str(directory)), shlex.quote(str(folder))
    out.print(
        f"export:    grader export {place} --format PLATFORM --class {people} --gradebook FILE --out FILE",
    )
    for note in marks.notes:
        out.print(note)
    print_problems(create_console(stderr=True), [*marks.warnings, *marks.problems])
    return 2 if marks.problems else 0


def write_class_list(source: Path, folder: Path) -> None:
    """Write CLASS/class.csv and, for a worksheet of Moodle with submission times, CLASS/worksheet.csv.

    Raises CallError if a file exists or can't be written, or if `source` is not a known table.
    """
    people = make_roster(source)
    times = read_worksheet_times(source, people)
    texts = {"class.csv": encode_csv([LIST, *([getattr(person, name) for name in LIST] for person in people)])}
    if times:
        texts[WORKSHEET] = source.read_bytes()
    for name, content in texts.items():
        if (folder / name).exists() and not (folder / name).samefile(source):
            raise CallError(f"{folder / name}: exists already; remove it, or leave out --from")
        with convert_write_errors(folder / name):
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, content)


def make_cells(row: PersonMark) -> list[CellValue]:
    """Return a row of the table. For a person without a submission, the points are empty rather than 0."""
    mark = row.mark
    figures = (mark.raw, row.max_score, mark.days_late, mark.late, mark.override, mark.final, "; ".join(mark.reasons))
    return [*(getattr(row.person, column) for column in ABOUT), row.submission, *figures]
