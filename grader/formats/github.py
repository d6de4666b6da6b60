"""GitHub Actions: Markdown for the summary of a step, and annotations beside the student's lines."""

import re
from collections.abc import Sequence
from itertools import groupby
from string import punctuation

from grader.formats.text import one_line
from grader.formats.view import Seen, seen
from grader.result import Result
from kata.catalog import catalog

LONGEST = 4000  # characters of one message
LEVELS = {"inconclusive": "warning", "not_started": "notice", "not_graded": "notice"}
WORDS = {
    "passed": "passed",
    "failed": "wrong",
    "crashed": "crashed",
    "timed_out": "no answer in time",
    "not_started": "not started",
    "inconclusive": "inconclusive, the machine's fault",
    "not_graded": "not graded",
}
ENTITIES = {ord(mark): f"&#{ord(mark)};" for mark in punctuation}


def summary(result: Result) -> str:
    """One submission: its katas in a table, then every test that did not pass. Raises ValueError."""
    rows = seen(result, platform_hides=False)
    lines = [f"## {inline(result.submission)}: {points(rows)} points", "", "| kata | points | tests passed |"]
    lines.append("| --- | ---: | ---: |")
    for kata, group in by_kata(rows):
        passed = sum(row.outcome == "passed" for row in group)
        lines.append(
            f"| {inline(catalog().katas[kata].title)} (`{kata}`) | {points(group)} | {passed} of {len(group)} |"
        )
    for kata, group in by_kata(rows):
        open_tests = [row for row in group if row.outcome != "passed"]
        if open_tests:
            lines += ["", f"<details><summary>{kata}: {len(open_tests)} not passed</summary>", ""]
            for row in open_tests:
                lines += [f"**{inline(row.title)}** · {WORDS[row.outcome]} · {points([row])} points", ""]
                lines += [fenced(row.message), ""]
            lines.append("</details>")
    return "\n".join(lines) + "\n"


def class_summary(results: Sequence[Result]) -> str:
    """Many submissions: a line for each. Raises ValueError."""
    lines = ["| submission | points | katas done |", "| --- | ---: | ---: |"]
    for result in results:
        done = sum(kata.status == "done" for kata in result.katas)
        shown = points(seen(result, platform_hides=False))
        lines.append(f"| {inline(result.submission)} | {shown} | {done} of {len(result.katas)} |")
    return "\n".join(lines) + "\n"


def annotations(result: Result) -> list[str]:
    """A workflow command for each kata that is not done, at the first line that is known. Raises ValueError."""
    return [
        annotation(kata, [row for row in group if row.outcome != "passed"])
        for kata, group in by_kata(seen(result, platform_hides=False))
        if any(row.outcome != "passed" for row in group)
    ]


def annotation(kata: str, rows: Sequence[Seen]) -> str:
    """The gravest of these tests as a workflow command, and how many more there are."""
    first = min(rows, key=lambda row: row.outcome in LEVELS)
    placed = first.line > 0 and re.fullmatch(r"\w+\.py", first.file) is not None
    properties = {"file": f"assignment/{first.file if placed else f'{kata}.py'}"}
    if placed:
        properties["line"] = str(first.line)
    properties["title"] = f"{kata}: {first.title}"
    more = f"\n(and {len(rows) - 1} more of {kata})" if len(rows) > 1 else ""
    shown = ",".join(f"{name}={escape_property(value)}" for name, value in properties.items())
    return f"::{LEVELS.get(first.outcome, 'error')} {shown}::{escape(first.message[:LONGEST] + more)}"


def by_kata(rows: Sequence[Seen]) -> list[tuple[str, list[Seen]]]:
    """The tests of each kata."""
    return [(kata, list(group)) for kata, group in groupby(rows, key=lambda row: row.kata)]


def points(rows: Sequence[Seen]) -> str:
    """`6 of 10`."""
    return f"{sum(row.score for row in rows):g} of {sum(row.max_score for row in rows):g}"


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
