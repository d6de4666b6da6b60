"""Builds the table of a class for the terminal, with a row of points and statuses for each submission."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from grader.base.text import printable
from grader.results.result import REHEARSAL, KataResult, Result
from torchkata.course import Kata
from torchkata.i18n import class_words
from torchkata.result import LOOK_OF, Status, find_gravest, get_status

COLORS = {"grey": "bright_black"}  # the name that rich uses for the color
NARROWEST = 5  # width of "100 ✗"; long names are wrapped, but numbers are never truncated
UNMARKED: tuple[Status, ...] = ("done", "not_graded")  # not marked with a symbol after the points


def build_class_table(rows: Sequence[Result], katas: Sequence[Kata]) -> Table:
    """Return the table with a legend. If several tracks were graded, the table has one column per track."""
    tracks = dict.fromkeys(kata.track for kata in katas)
    columns = (
        [[kata for kata in katas if kata.track == track] for track in tracks]
        if len(tracks) > 1
        else [[kata] for kata in katas]
    )
    legend = "   ".join(f"{symbol(status)} {class_words(f'status.{status}')}" for status in LOOK_OF if symbol(status))
    if any(workload.rehearsed for row in rows for workload in row.performance):
        legend += f"\nspeed: number of workloads passed; {REHEARSAL}"
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, caption=legend, caption_justify="left")
    table.add_column("submission", overflow="fold", max_width=28)
    table.add_column("score", justify="right", no_wrap=True)
    for column in columns:
        name = column[0].track if len(tracks) > 1 else column[0].name
        table.add_column(name.replace("_", "\n"), justify="right", overflow="fold", min_width=NARROWEST)
    timed = any(row.performance for row in rows)
    if timed:
        table.add_column("speed", justify="right", overflow="fold", min_width=NARROWEST)
    for row in rows:
        graded = {kata.kata: kata for kata in row.katas}
        table.add_row(
            Text(printable(row.submission)),
            Text(f"{row.score:g}/{row.max_score:g}", style="bold"),
            *(format_katas([graded[kata.name] for kata in column if kata.name in graded]) for column in columns),
            *([format_speed(row)] if timed else []),
        )
    return table


def format_katas(katas: Sequence[KataResult]) -> Text:
    """Return the total points and the worst status of these katas, or "" if none of them was graded."""
    if not katas:
        return Text("")
    status = find_gravest([kata.status for kata in katas])
    return format_cell(f"{sum(kata.score for kata in katas):g}", status)


def format_cell(points: str, status: Status) -> Text:
    """Return the points and the symbol of the status, padded so that the points in a column are aligned."""
    color = LOOK_OF[status].color
    return Text(f"{points} {symbol(status):<1}", style=COLORS.get(color, color))


def symbol(status: Status) -> str:
    """Return the symbol that is shown after the points."""
    return "" if status in UNMARKED else LOOK_OF[status].symbol


def format_speed(row: Result) -> Text:
    """Return the points of all workloads (in a rehearsal, how many passed) and their worst status."""
    graded = [workload for workload in row.performance if workload.outcome != "not_graded"]
    if not graded:
        return Text("")
    status = get_status([workload.outcome for workload in graded])
    if any(workload.rehearsed for workload in graded):
        passed = sum(workload.outcome == "passed" for workload in graded)
        return format_cell(f"{passed} of {len(graded)}", status)
    return format_cell(f"{sum(workload.score for workload in graded if workload.counts):g}", status)
