"""`grader marks`: what each in the class gets, from stored results and the instructor's rules."""

from dataclasses import fields
from pathlib import Path

from grader.base.errors import CallError
from grader.base.terminal import create_console
from grader.marks.compute import Row, marks_of
from grader.marks.roster import Person
from grader.output.gradebook import Cell, csv_of
from grader.output.summary import tell
from grader.results.result import write_whole

MARKS = "marks.csv"
ABOUT = [column.name for column in fields(Person) if column.name != "submission"]
FIGURES = ("submission", "raw", "max_score", "days_late", "late", "override", "final", "reasons")


def run_marks(directory: Path, folder: Path, *, excel: bool) -> int:
    """Write CLASS/marks.csv, and say who has handed in nothing; 2 where something is to be settled by hand.

    Raises CallError.
    """
    rows, problems = marks_of(directory, folder)
    try:
        write_whole(folder / MARKS, csv_of([[*ABOUT, *FIGURES], *map(cells, rows)], excel=excel))
    except OSError as error:
        raise CallError(f"{folder / MARKS}: can't be written ({error.strerror})") from None
    out = create_console()
    nothing = [row.person.id for row in rows if row.mark.raw is None]
    late = sum(row.mark.days_late > 0 for row in rows)
    out.print(f"marks:     {folder / MARKS}", markup=False, soft_wrap=True)
    out.print(f"people:    {len(rows)}; {len(rows) - len(nothing)} have handed in, {late} of them late")
    if nothing:
        out.print(f"nothing:   {', '.join(nothing)}", markup=False, soft_wrap=True)
    tell(create_console(stderr=True), problems)
    return 2 if problems else 0


def cells(row: Row) -> list[Cell]:
    """A row of the table; empty where nothing was handed in, which is not 0."""
    got = row.mark
    figures = (got.raw, row.max_score, got.days_late, got.late, got.override, got.final, "; ".join(got.reasons))
    return [*(getattr(row.person, column) for column in ABOUT), row.submission, *figures]
