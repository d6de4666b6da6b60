"""The class in the terminal: a row a submission, the points and the status of each kata."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from grader.course.ledger import KataRow, Row
from kata.catalog import Kata
from kata.explain import Status

MARKS: dict[Status, tuple[str, str, str]] = {  # mark, what it means, colour
    "done": ("", "done", "green"),
    "wrong": ("✗", "wrong", "red"),
    "crashed": ("!", "crashed", "red"),
    "timed_out": ("…", "no answer in time", "red"),
    "not_started": ("-", "not started", "bright_black"),
    "inconclusive": ("?", "inconclusive: the machine's fault", "yellow"),
    "not_graded": ("", "not graded", "bright_black"),
}


def class_table(rows: Sequence[Row], katas: Sequence[Kata]) -> Table:
    """The table, with its legend below."""
    legend = "   ".join(f"{mark} {words}" for mark, words, _ in MARKS.values() if mark)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), caption=legend, caption_justify="left")
    table.add_column("submission", overflow="fold", max_width=28)
    table.add_column("score", justify="right")
    for kata in katas:
        table.add_column(kata.name.replace("_", "\n"), justify="right")
    for row in rows:
        cells = {kata.kata: cell(kata) for kata in row.katas}
        table.add_row(
            Text(row.submission),
            Text(f"{row.score:g}/{row.max_score:g}", style="bold"),
            *(cells.get(kata.name, Text("")) for kata in katas),
        )
    return table


def cell(kata: KataRow) -> Text:
    """Points, then the mark of the status; a column of width two for the mark keeps the points aligned."""
    mark, _, colour = MARKS[kata.status]
    return Text(f"{kata.score:g} {mark:<1}", style=colour)
