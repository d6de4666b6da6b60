"""`gradebook.csv`: a line a submission, the points of each kata beside its status."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from grader.result import Result, write_whole
from kata.catalog import catalog

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would run


def write(results: Sequence[Result], directory: Path) -> None:
    """Store the gradebook, whole or not at all."""
    out = io.StringIO()
    katas = list(catalog().katas)
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        ["submission", "score", "max_score", *(column for kata in katas for column in (kata, f"{kata}_status"))]
    )
    for result in results:
        scores = {kata.kata: kata.score for kata in result.katas}
        cells = [cell for kata in katas for cell in (scores.get(kata, ""), result.status(kata))]
        table.writerow([harmless(result.submission), result.score, result.max_score, *cells])
    write_whole(directory / "gradebook.csv", out.getvalue().encode("utf-8"))


def harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
