"""`gradebook.csv`: a line a submission, the points of each kata beside its status, the number of remarks.

Nothing in it depends on when or how fast it was graded: the same class and options make the same bytes.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from grader.course.ledger import Row
from grader.result import write_whole
from kata.catalog import catalog

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")  # what a spreadsheet would run


def write(rows: Sequence[Row], directory: Path) -> None:
    """Store the gradebook, whole or not at all."""
    out = io.StringIO()
    names = list(catalog().katas)
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        [
            *("submission", "score", "max_score"),
            *(column for name in names for column in (name, f"{name}_status")),
            "remarks",
        ]
    )
    for row in rows:
        katas = {kata.kata: (kata.score, kata.status) for kata in row.katas}
        cells = [cell for name in names for cell in katas.get(name, ("", "not_graded"))]
        table.writerow([harmless(row.submission), row.score, row.max_score, *cells, len(row.remarks)])
    write_whole(directory / "gradebook.csv", out.getvalue().encode("utf-8"))


def harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
