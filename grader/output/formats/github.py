"""Exports results to GitHub Actions: Markdown for a step summary, and annotations on lines of the student's code."""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from string import punctuation

from grader.base.text import one_line
from grader.options import ExportOptions
from grader.output.exporter import Exporter, Stored, convert_each, write_file
from grader.output.speed_score import speed_score
from grader.results.load import list_results
from grader.results.result import Result
from grader.results.visibility import HAND_IN, PERFORMANCE, VisibleTest, group_title, outcome_text, view_as_student
from torchkata.i18n import translate_for_class as _

LONGEST = 4000  # maximum number of characters of a message that are shown
LEVELS = {"inconclusive": "warning", "waived": "notice", "not_started": "notice", "not_graded": "notice"}
ENTITIES = {ord(mark): f"&#{ord(mark)};" for mark in punctuation}


def render_summary(result: Result) -> str:
    """Return the summary of a submission: katas, workloads, and the tests that did not pass.

    Raises ValueError if the course no longer contains a test or workload of the result.
    """
    rows = view_as_student(result, platform_hides=False)
    heading = _("## {submission}: {points} points", submission=inline(result.submission), points=format_points(rows))
    lines = [heading, "", _("| kata | points | tests passed |"), "| --- | ---: | ---: |"]
    for name, group in by_group(rows):
        counted = [row.result.outcome == "passed" for row in group if row.counts]
        passed = of_total(sum(counted), len(counted))
        lines.append(f"| {inline(group_title(name))} (`{name}`) | {format_points(group)} | {passed} |")
    if result.performance:
        lines += ["", *render_speed(result, rows)]
    for name, group in by_group(rows):
        open_tests = [row for row in group if row.result.outcome != "passed"]
        if open_tests:
            heading = _("{kata}: {count} not passed", kata=name, count=len(open_tests))
            lines += ["", f"<details><summary>{heading}</summary>", ""]
            for row in open_tests:
                lines += [f"**{inline(row.title)}** · {outcome_text(row.result.outcome)} · {row.points}", ""]
                lines += [fenced(row.result.message), ""]
            lines.append("</details>")
    return "\n".join(lines) + "\n"


def render_speed(result: Result, rows: Sequence[VisibleTest]) -> list[str]:
    """Return a table of the workloads, each with the speed that it reached (as a share) and its thresholds."""
    heading = _(
        "| workload | points | reached | lower threshold | upper threshold |"
        if any(row.rehearsed for row in rows)
        else "| workload | points | reached | some points from | all points from |"
    )
    lines = [heading, "| --- | ---: | ---: | ---: | ---: |"]
    for row, timed in zip([row for row in rows if row.group == PERFORMANCE], result.performance, strict=True):
        score = speed_score(timed)
        reached = outcome_text(row.result.outcome)
        if score:
            reached = _("{share} of the {whole}", share=f"{score.share:.2f}", whole=score.whole)
        thresholds = [f"{tier:.2f}" for tier in vars(score.thresholds).values()] if score else ["", ""]
        lines.append(f"| {row.title} | {format_points([row])} | {inline(reached)} | {' | '.join(thresholds)} |")
    return lines


def render_row(result: Result) -> str:
    """Return the row of a submission in the table of the class.

    Raises ValueError if the course no longer contains a test or workload of the result.
    """
    done = sum(kata.status == "done" for kata in result.katas)
    points = format_points(view_as_student(result, platform_hides=False))
    return f"| {inline(result.submission)} | {points} | {done} of {len(result.katas)} |"


def list_annotations(result: Result) -> list[str]:
    """Return a workflow command for each kata that is not done and one for the workloads.

    The command of a kata refers to the first line at which a test failed, if it is known. Raises ValueError
    if the course no longer contains a test or workload of the result.
    """
    return [
        annotate(name, [row for row in group if row.result.outcome != "passed"])
        for name, group in by_group(view_as_student(result, platform_hides=False))
        if any(row.result.outcome != "passed" for row in group)
    ]


def annotate(name: str, rows: Sequence[VisibleTest]) -> str:
    """Return a workflow command that describes the test with the worst outcome and counts the others."""
    first = min(rows, key=lambda row: row.result.outcome in LEVELS)
    placed = first.result.line > 0 and re.fullmatch(r"\w+\.py", first.result.file) is not None
    file = first.result.file if placed else f"{name}.py"
    properties = {} if name in (PERFORMANCE, HAND_IN) else {"file": f"assignment/{file}"}
    if placed:
        properties["line"] = str(first.result.line)
    properties["title"] = f"{name}: {first.title}"
    more = "\n" + _("(and {count} more of {kata})", count=len(rows) - 1, kata=name) if len(rows) > 1 else ""
    fields = ",".join(f"{key}={escape(value, ':,')}" for key, value in properties.items())
    return f"::{LEVELS.get(first.result.outcome, 'error')} {fields}::{escape(first.result.message[:LONGEST] + more)}"


def by_group(rows: Sequence[VisibleTest]) -> list[tuple[str, list[VisibleTest]]]:
    """Group the rows by kata. All workloads form one group."""
    return [(name, list(group)) for name, group in groupby(rows, key=lambda row: row.group)]


def format_points(rows: Sequence[VisibleTest]) -> str:
    """Return the points as text, such as `6 of 10`, or a note that this was a rehearsal."""
    counted = [row for row in rows if row.counts]
    if counted and all(row.rehearsed for row in counted):
        return _("a rehearsal without points")
    return of_total(sum(row.result.score for row in rows), sum(row.result.max_score for row in rows))


def of_total(earned: float, most: float) -> str:
    """Format earned points and maximum points as text, such as `6 of 10`."""
    return f"{earned:g} {_('of {most}', most=f'{most:g}')}"


def inline(text: str) -> str:
    """Escape text for use in a line of Markdown."""
    return one_line(text).translate(ENTITIES)


def fenced(text: str) -> str:
    """Return the text as a code block with a longer fence than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text[:LONGEST]}\n{fence}"


def escape(text: str, more: str = "") -> str:
    """Escape the message of a workflow command. For a property, `more` lists further characters to escape."""
    return text.translate({ord(character): f"%{ord(character):02X}" for character in f"%\r\n{more}"})


def export(directory: Path, options: ExportOptions) -> list[str]:
    """Write a Markdown summary. For a single submission, also print annotations."""

    def render_alone(stored: Stored) -> tuple[str, list[str]]:
        return render_summary(stored.result), list_annotations(stored.result)

    problems: list[str] = []
    if len(list_results(directory)) == 1:
        for _, (summary, annotations) in convert_each(directory, render_alone, problems, options.people):
            write_file(options.out, summary.encode())
            for line in annotations:
                print(line)
    else:
        table = ["| submission | points | katas done |", "| --- | ---: | ---: |"]
        rows = convert_each(directory, lambda stored: render_row(stored.result), problems, options.people)
        table += [row for _, row in rows]
        write_file(options.out, "\n".join([*table, ""]).encode())
    return problems


EXPORTER = Exporter(export, frozenset({"people"}))
