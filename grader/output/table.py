"""The class in the terminal: a row a submission, points and status of each kata or track, and of the workloads."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from grader.results.result import REHEARSAL, KataResult, Result
from grader.results.text import printable
from torchkata.course import Kata
from torchkata.i18n import class_words
from torchkata.result import LOOK_OF, Status, find_gravest, get_status

COLOURS = {"grey": "bright_black"}  # as rich calls it
NARROWEST = 5  # columns of a cell, "100 ✗" in full: a name folds, and no number is cut
UNMARKED: tuple[Status, ...] = ("done", "not_graded")  # points, or none, say it


def class_table(rows: Sequence[Result], katas: Sequence[Kata]) -> Table:
    """The table, with its legend below; where katas of several tracks were graded, a column for each track."""
    tracks = dict.fromkeys(kata.track for kata in katas)
    columns = (
        [[kata for kata in katas if kata.track == track] for track in tracks]
        if len(tracks) > 1
        else [[kata] for kata in katas]
    )
    legend = "   ".join(f"{mark(status)} {class_words(f'status.{status}')}" for status in LOOK_OF if mark(status))
    if any(workload.rehearsed for row in rows for workload in row.performance):
        legend += f"\nspeed on a CPU: workloads passed; {REHEARSAL}"
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
            *(together([graded[kata.name] for kata in column if kata.name in graded]) for column in columns),
            *([speed(row)] if timed else []),
        )
    return table


def together(katas: Sequence[KataResult]) -> Text:
    """The points of these katas, and the gravest status; nothing where none was graded."""
    if not katas:
        return Text("")
    status = find_gravest([kata.status for kata in katas])
    return cell(f"{sum(kata.score for kata in katas):g}", status)


def cell(points: str, status: Status) -> Text:
    """Points, then the mark of the status; a column of width two for the mark keeps the points aligned."""
    colour = LOOK_OF[status].colour
    return Text(f"{points} {mark(status):<1}", style=COLOURS.get(colour, colour))


def mark(status: Status) -> str:
    """What stands beside the points."""
    return "" if status in UNMARKED else LOOK_OF[status].symbol


def speed(row: Result) -> Text:
    """The points of all workloads together, then the gravest thing that happened; nothing where none was graded.

    In a rehearsal, how many passed.
    """
    graded = [workload for workload in row.performance if workload.outcome != "not_graded"]
    if not graded:
        return Text("")
    status = get_status([workload.outcome for workload in graded])
    if any(workload.rehearsed for workload in graded):
        passed = sum(workload.outcome == "passed" for workload in graded)
        return cell(f"{passed} of {len(graded)}", status)
    return cell(f"{sum(workload.score for workload in graded if workload.counts):g}", status)
