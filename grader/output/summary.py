"""A class from its stored results: gradebook, pictures, and on the terminal table and findings."""

import logging
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.base.errors import MachineError
from grader.output import gradebook
from grader.output.table import class_table
from grader.results.load import rows
from grader.results.result import Result, ResultError
from grader.results.text import printable
from torchkata.course import course


def rebuild(directory: Path, *, excel: bool = False) -> tuple[list[Result], list[str]]:
    """Write the gradebook of all that is stored; its rows, a line for each that can't be read. Raises MachineError."""
    found, problems = rows(directory)
    try:
        gradebook.write(found, directory, excel=excel)
    except OSError as error:
        raise MachineError(f"can't write {directory / 'gradebook.csv'} ({error.strerror})") from None
    return found, problems


def draw_speed(directory: Path, found: Sequence[Result]) -> list[str]:
    """Draw the speed of each submission that was timed; a line for each that can't be read. Raises MachineError."""
    problems = []
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it speaks of its font cache
    try:
        for row in found:
            (directory / row.submission / "roofline.svg").unlink(missing_ok=True)  # of a run before this one
            if row.performance:
                from grader.output.speed_pictures import draw  # matplotlib is slow to import

                try:
                    draw(directory / row.submission)
                except ResultError as error:
                    problems.append(str(error))
    except OSError as error:
        raise MachineError(f"can't draw the speed in {directory} ({error.strerror})") from None
    return problems


def show(out: Console, found: Sequence[Result], directory: Path, limit: int | None) -> None:
    """The table, the first findings, and where the files are."""
    graded = {kata.kata for row in found for kata in row.katas}
    out.print(class_table(found, [kata for name, kata in course().katas.items() if name in graded]))
    show_findings(out, found, limit)
    if kinds := sorted({row.isolation for row in found if not row.unreadable}):
        out.print(f"isolation: {', '.join(kinds)}", markup=False)
    out.print(f"results:   {directory}/<submission>/result.json", markup=False, soft_wrap=True)
    out.print(f"gradebook: {directory / 'gradebook.csv'}", markup=False, soft_wrap=True)


def show_findings(out: Console, found: Sequence[Result], limit: int | None) -> None:
    """A line for each finding, up to a limit."""
    findings = [(row.submission, finding) for row in found for finding in row.findings]
    if findings:
        out.print("findings in the sources, for you alone; no points depend on them:")
    for submission, finding in findings[:limit]:
        line = f"  {submission}  {finding.kata}.py, line {finding.line}: {finding.text}"
        out.print(Text(printable(line), style="yellow"), soft_wrap=True)
    if limit is not None and len(findings) > limit:
        out.print(f"  … and {len(findings) - limit} more; `grader report` shows all")


def tell(err: Console, problems: Sequence[str]) -> None:
    """A line for each problem."""
    for problem in problems:
        err.print(f"grader: {printable(problem)}", style="red", markup=False, soft_wrap=True)
