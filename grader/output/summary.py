"""Prints the summary of a class to the terminal, and writes the gradebook and rooflines."""

import logging
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.base.errors import MachineError, convert_write_errors
from grader.base.text import one_line, printable
from grader.output import gradebook
from grader.output.table import build_class_table
from grader.results.load import drop_details, read_all
from grader.results.result import Result, ResultError
from torchkata.course import course

ROWS = 1000  # maximum number of submissions in the table; a larger table takes long to lay out, and nobody reads it


def rebuild(directory: Path, *, excel: bool = False) -> tuple[list[Result], list[str]]:
    """Write the gradebook. Return the results in it, and a line for each unreadable result.

    Raises MachineError if the gradebook can't be written.
    """
    results, problems = read_all(directory, drop_details)
    found = list(results.values())
    with convert_write_errors(directory / "gradebook.csv", MachineError):
        gradebook.write(found, directory, excel=excel)
    return found, problems


def draw_speed(directory: Path, found: Sequence[Result]) -> list[str]:
    """Draw a roofline for each timed submission. Return a line for each unreadable result.

    Raises MachineError if a roofline can't be written.
    """
    problems = []
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # suppress messages about its font cache
    with convert_write_errors(directory, MachineError):
        for row in found:
            (directory / row.submission / "roofline.svg").unlink(missing_ok=True)  # the roofline of an earlier run
            if row.performance:
                from grader.output.roofline import draw_result  # matplotlib is slow to import

                try:
                    draw_result(directory / row.submission)
                except ResultError as error:
                    problems.append(str(error))
    return problems


def print_class(out: Console, found: Sequence[Result], directory: Path, limit: int | None) -> None:
    """Print the table, the first findings, and the paths of the files."""
    graded = {kata.kata for row in found for kata in row.katas}
    out.print(build_class_table(found[:ROWS], [kata for name, kata in course().katas.items() if name in graded]))
    if len(found) > ROWS:
        out.print(f"… and {len(found) - ROWS:,} more; gradebook.csv has all of them")
    print_findings(out, found, limit)
    if kinds := sorted({row.isolation for row in found if not row.unreadable}):
        out.print(f"isolation: {', '.join(kinds)}", markup=False)
    out.print(f"results:   {directory}/<submission>/result.json", markup=False, soft_wrap=True)
    out.print(f"gradebook: {directory / 'gradebook.csv'}", markup=False, soft_wrap=True)


def print_findings(out: Console, found: Sequence[Result], limit: int | None) -> None:
    """Print a line for each finding, up to the limit."""
    findings = [(row.submission, finding) for row in found for finding in row.findings]
    if findings:
        out.print("findings in the sources (shown only to you; they do not affect points):")
    for submission, finding in findings[:limit]:
        line = f"  {submission}  {finding.kata}.py, line {finding.line}: {finding.text}"
        out.print(Text(printable(line), style="yellow"), soft_wrap=True)
    if limit is not None and len(findings) > limit:
        out.print(f"  … and {len(findings) - limit} more; `grader report` shows all")


def print_problems(err: Console, problems: Sequence[str]) -> None:
    """Print a line for each problem."""
    for problem in problems:
        err.print(f"grader: {one_line(problem)}", style="red", markup=False, soft_wrap=True)
