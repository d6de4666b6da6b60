"""Prints the summary of a class to the terminal, with a row of points and statuses for each submission.

Also writes the gradebook.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.base.errors import MachineError, convert_write_errors
from grader.base.text import one_line, printable
from grader.output import gradebook
from grader.output.names import shorten_names
from grader.results.faults import describe_waived, list_faults
from grader.results.load import drop_details, read_all
from grader.results.result import REHEARSAL, KataResult, Result
from torchkata.course import Kata, course
from torchkata.i18n import class_language, translate
from torchkata.result import LOOK_OF, Status, find_gravest, get_status
from torchkata.streams import can_show

COLORS = {"grey": "bright_black"}  # the name that rich uses for the color
NARROWEST = 5  # width of "100 ✗"; long names are wrapped, but numbers are never truncated
UNMARKED: tuple[Status, ...] = ("done", "not_graded")  # not marked with a symbol after the points
ROWS = 1000  # maximum number of submissions in the table; a larger table takes long to lay out, and nobody reads it


def rebuild(
    directory: Path, waive: Callable[[Result], Result] = lambda result: result, *, excel: bool = False
) -> tuple[list[Result], list[str]]:
    """Write the gradebook. Return the results in it, and a line for each unreadable result.

    `waive` applies the waivers of the class to a result. Raises MachineError if the gradebook can't be written.
    """
    results, problems = read_all(directory, lambda result: drop_details(waive(result)))
    found = list(results.values())
    with convert_write_errors(directory / "gradebook.csv", MachineError):
        gradebook.write(found, directory, excel=excel)
    return found, problems


def print_class(out: Console, found: Sequence[Result], directory: Path, limit: int | None) -> None:
    """Print the table, the first findings, and the paths of the files."""
    graded = {kata.kata for row in found for kata in row.katas}
    out.print(build_class_table(found[:ROWS], [kata for name, kata in course().katas.items() if name in graded]))
    if len(found) > ROWS:
        out.print(f"… and {len(found) - ROWS:,} more; gradebook.csv has all of them")
    for line in describe_waived({row.submission: [*list_faults(row)] for row in found}):
        out.print(line, style="yellow")
    notes = [f"  {row.submission}  {note}" for row in found for note in row.left_aside]
    print_limited(out, "files that were left aside, but may be katas:", notes, limit)
    print_findings(out, found, limit)
    if kinds := sorted({row.isolation for row in found if not row.unreadable}):
        out.print(f"isolation: {', '.join(kinds)}")
    out.print(f"results:   {directory}/<submission>/result.json")
    out.print(f"gradebook: {directory / 'gradebook.csv'}")


def print_findings(out: Console, found: Sequence[Result], limit: int | None) -> None:
    """Print a line for each finding, up to the limit."""
    findings = [
        f"  {row.submission}  {finding.kata}.py, line {finding.line}: {finding.text}"
        for row in found
        for finding in row.findings
    ]
    print_limited(out, "findings in the sources (shown only to you; they do not affect points):", findings, limit)


def print_limited(out: Console, title: str, lines: Sequence[str], limit: int | None) -> None:
    """Print a title and the first lines, if there are any."""
    if lines:
        out.print(title)
    for line in lines[:limit]:
        out.print(line, style="yellow")
    if limit is not None and len(lines) > limit:
        out.print(f"  … and {len(lines) - limit} more; `grader report` shows all")


def print_problems(err: Console, problems: Sequence[str]) -> None:
    """Print a line for each problem."""
    for problem in problems:
        err.print(f"grader: {one_line(problem)}", style="red")


def build_class_table(rows: Sequence[Result], katas: Sequence[Kata]) -> Table:
    """Return the table with a legend. If several tracks were graded, the table has one column per track."""
    tracks = dict.fromkeys(kata.track for kata in katas)
    columns = (
        [[kata for kata in katas if kata.track == track] for track in tracks]
        if len(tracks) > 1
        else [[kata] for kata in katas]
    )
    legend = "   ".join(
        f"{symbol(status)} {translate(LOOK_OF[status].word, class_language())}" for status in LOOK_OF if symbol(status)
    )
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
    names = shorten_names([row.submission for row in rows])
    for row in rows:
        graded = {kata.kata: kata for kata in row.katas}
        table.add_row(
            Text(printable(names[row.submission])),
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
    """Return the symbol that is shown after the points, or a letter where the terminal can't show it."""
    look = LOOK_OF[status]
    return "" if status in UNMARKED else look.symbol if can_show(look.symbol) else look.letter


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
