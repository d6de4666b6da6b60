"""GitHub Actions: Markdown for the summary of a step, and annotations beside the student's lines."""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from string import punctuation

from grader.output.exporter import Exporter, Options, load_results, write_file
from grader.output.speed_score import speed_score
from grader.results.result import Result
from grader.results.text import in_words, one_line
from grader.results.view import HAND_IN, PERFORMANCE, VisibleTest, title_of, visible
from torchkata.i18n import class_words

LONGEST = 4000  # characters of one message
LEVELS = {"inconclusive": "warning", "not_started": "notice", "not_graded": "notice"}
ENTITIES = {ord(mark): f"&#{ord(mark)};" for mark in punctuation}


def summary(result: Result) -> str:
    """One submission: a table of its katas, one of its workloads, every test that did not pass. Raises ValueError."""
    rows = visible(result, platform_hides=False)
    lines = [class_words("summary.heading", submission=inline(result.submission), points=points(rows)), ""]
    lines += [class_words("summary.katas"), "| --- | ---: | ---: |"]
    for name, group in by_group(rows):
        counted = [row.result.outcome == "passed" for row in group if row.counts]
        lines.append(
            f"| {inline(title_of(name))} (`{name}`) | {points(group)} | {sum_of(sum(counted), len(counted))} |"
        )
    if result.performance:
        lines += ["", *speed(result, rows)]
    for name, group in by_group(rows):
        open_tests = [row for row in group if row.result.outcome != "passed"]
        if open_tests:
            told = class_words("summary.open", kata=name, count=len(open_tests))
            lines += ["", f"<details><summary>{told}</summary>", ""]
            for row in open_tests:
                lines += [f"**{inline(row.title)}** · {in_words(row.result.outcome)} · {row.points}", ""]
                lines += [fenced(row.result.message), ""]
            lines.append("</details>")
    return "\n".join(lines) + "\n"


def speed(result: Result, rows: Sequence[VisibleTest]) -> list[str]:
    """A line for each workload: the share that it reached, and the shares that were asked for."""
    heading = "summary.rehearsed" if any(row.rehearsed for row in rows) else "summary.timed"
    lines = [class_words(heading), "| --- | ---: | ---: | ---: | ---: |"]
    for row, timed in zip([row for row in rows if row.group == PERFORMANCE], result.performance, strict=True):
        shown = speed_score(timed)
        reached = in_words(row.result.outcome)
        if shown:
            whole = class_words(f"feedback.{shown.of}")
            reached = class_words("feedback.share", share=f"{shown.share:.2f}", whole=whole)
        asked = [f"{tier:.2f}" for tier in vars(shown.thresholds).values()] if shown else ["", ""]
        lines.append(f"| {row.title} | {points([row])} | {inline(reached)} | {' | '.join(asked)} |")
    return lines


def class_summary(results: Sequence[Result]) -> str:
    """Many submissions: a line for each. Raises ValueError."""
    lines = ["| submission | points | katas done |", "| --- | ---: | ---: |"]
    for result in results:
        done = sum(kata.status == "done" for kata in result.katas)
        shown = points(visible(result, platform_hides=False))
        lines.append(f"| {inline(result.submission)} | {shown} | {done} of {len(result.katas)} |")
    return "\n".join(lines) + "\n"


def annotations(result: Result) -> list[str]:
    """A workflow command for each kata that is not done, at the first line that is known, and one for the workloads.

    Raises ValueError.
    """
    return [
        annotation(name, [row for row in group if row.result.outcome != "passed"])
        for name, group in by_group(visible(result, platform_hides=False))
        if any(row.result.outcome != "passed" for row in group)
    ]


def annotation(name: str, rows: Sequence[VisibleTest]) -> str:
    """The gravest of these tests as a workflow command, and how many more there are."""
    first = min(rows, key=lambda row: row.result.outcome in LEVELS)
    placed = first.result.line > 0 and re.fullmatch(r"\w+\.py", first.result.file) is not None
    file = first.result.file if placed else f"{name}.py"
    properties = {} if name in (PERFORMANCE, HAND_IN) else {"file": f"assignment/{file}"}
    if placed:
        properties["line"] = str(first.result.line)
    properties["title"] = f"{name}: {first.title}"
    more = "\n" + class_words("summary.more", count=len(rows) - 1, kata=name) if len(rows) > 1 else ""
    shown = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
    return f"::{LEVELS.get(first.result.outcome, 'error')} {shown}::{escape(first.result.message[:LONGEST] + more)}"


def by_group(rows: Sequence[VisibleTest]) -> list[tuple[str, list[VisibleTest]]]:
    """The tests of each kata, and the workloads."""
    return [(name, list(group)) for name, group in groupby(rows, key=lambda row: row.group)]


def points(rows: Sequence[VisibleTest]) -> str:
    """`6 of 10`, or that there are none to earn."""
    counted = [row for row in rows if row.counts]
    if counted and all(row.rehearsed for row in counted):
        return class_words("feedback.rehearsal")
    return sum_of(sum(row.result.score for row in rows), sum(row.result.max_score for row in rows))


def sum_of(earned: float, most: float) -> str:
    """`6 of 10`."""
    return f"{earned:g} {class_words('feedback.of', most=f'{most:g}')}"


def inline(text: str) -> str:
    """Text in a line of Markdown: no character of it means anything."""
    return one_line(text).translate(ENTITIES)


def fenced(text: str) -> str:
    """Text as a block of code, in a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text[:LONGEST]}\n{fence}"


def escape(text: str) -> str:
    """The message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """What stands before the message of a workflow command."""
    return escape(text).replace(":", "%3A").replace(",", "%2C")


def export(directory: Path, options: Options) -> list[str]:
    """Write a summary in Markdown. For a single submission, print annotations as well."""
    stored, problems = load_results(directory)
    if len(stored) == 1:
        write_file(options.to, summary(stored[0].result).encode())
        for line in annotations(stored[0].result):
            print(line)
    else:
        write_file(options.to, class_summary([one.result for one in stored]).encode())
    return problems


EXPORTER = Exporter(export)
