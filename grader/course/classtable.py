"""The class in the terminal: a row a submission, the points and the status of each kata, and of the workloads."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from grader.course.ledger import KataRow, Row
from kata.catalog import Kata
from kata.explain import Status, status_of

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
    timed = any(row.performance for row in rows)
    if timed:
        table.add_column("speed", justify="right")
    for row in rows:
        cells = {kata.kata: cell(kata) for kata in row.katas}
        table.add_row(
            Text(row.submission),
            Text(f"{row.score:g}/{row.max_score:g}", style="bold"),
            *(cells.get(kata.name, Text("")) for kata in katas),
            *([speed(row)] if timed else []),
        )
    return table


def cell(kata: KataRow) -> Text:
    """Points, then the mark of the status; a column of width two for the mark keeps the points aligned."""
    mark, _, colour = MARKS[kata.status]
    return Text(f"{kata.score:g} {mark:<1}", style=colour)


def speed(row: Row) -> Text:
    """The points of all workloads together, then the gravest thing that happened; nothing where none was graded."""
    graded = [workload for workload in row.performance if workload.outcome != "not_graded"]
    if not graded:
        return Text("")
    points = sum(workload.score for workload in graded if workload.counts)
    return cell(KataRow("speed", status_of([workload.outcome for workload in graded]), points))
