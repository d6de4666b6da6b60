"""`grader diff`: what a regrade changed, test by test."""

import csv
import io
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from grader.course.gradebook import harmless
from grader.course.ledger import demand_results, stored_in
from grader.course.report import tell
from grader.errors import CallError
from grader.result import KataResult, Result, ResultError, TestResult, read, write_whole
from grader.terminal import console


@dataclass(frozen=True)
class Change:
    """A test that ends in another way, or earns other points; without a test, a whole submission that came or went."""

    submission: str
    kata: str
    points_before: float | None  # of the kata; None where there is nothing
    points_after: float | None
    test: str
    outcome_before: str
    outcome_after: str


def run_diff(old: Path, new: Path, table: Path | None) -> int:
    """Print what changed, and write it to `table`; 2 where a result can't be read, else 0. Raises CallError."""
    demand_results(old)
    demand_results(new)
    changes: list[Change] = []
    problems: list[str] = []
    before, after = stored_in(old), stored_in(new)
    submissions = sorted({*before, *after})
    for submission in submissions:
        try:
            pair = [read(paths[submission], Result) if submission in paths else None for paths in (before, after)]
            changes += compare(submission, *pair)
        except ResultError as error:
            problems.append(str(error))
    if table is not None:
        save(changes, table)
    out = console()
    if changes:
        out.print(table_of(changes))
    changed = len({change.submission for change in changes})
    out.print(f"{changed} of {len(submissions)} submissions differ")
    tell(console(stderr=True), problems)
    return 2 if problems else 0


def compare(submission: str, old: Result | None, new: Result | None) -> Iterator[Change]:
    """What is different between two results of one submission."""
    if old is None or new is None:
        scores = [None if result is None else result.score for result in (old, new)]
        words = ["not there" if result is None else "graded" for result in (old, new)]
        yield Change(submission, "", scores[0], scores[1], "", words[0], words[1])
        return
    before, after = ({kata.kata: kata for kata in result.katas} for result in (old, new))
    for kata in dict.fromkeys([*before, *after]):
        yield from compare_kata(submission, kata, before.get(kata), after.get(kata))


def compare_kata(submission: str, kata: str, old: KataResult | None, new: KataResult | None) -> Iterator[Change]:
    """The tests of a kata that differ; one that is on one side only was not graded on the other."""
    before, after = ({test.name: test for test in (result.tests if result else ())} for result in (old, new))
    for name in dict.fromkeys([*before, *after]):
        tests = before.get(name), after.get(name)
        if verdict(tests[0]) != verdict(tests[1]):
            points = [None if result is None else result.score for result in (old, new)]
            yield Change(submission, kata, points[0], points[1], name, verdict(tests[0])[0], verdict(tests[1])[0])


def verdict(test: TestResult | None) -> tuple[str, float]:
    """What counts of a test: its outcome and its points."""
    return (test.outcome, test.score) if test else ("not_graded", 0.0)


def table_of(changes: list[Change]) -> Table:
    """The changes for the terminal."""
    table = Table("submission", "kata", "points", "test", "outcome", box=box.SIMPLE_HEAD)
    for change in changes:
        table.add_row(
            Text(change.submission),
            Text(change.kata),
            f"{shown(change.points_before)} → {shown(change.points_after)}",
            Text(change.test),
            Text(f"{change.outcome_before} → {change.outcome_after}"),
        )
    return table


def shown(points: float | None) -> str:
    """Points, or a dash for none."""
    return "-" if points is None else f"{points:g}"


def save(changes: list[Change], path: Path) -> None:
    """Write the changes as CSV. Raises CallError."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow([field.name for field in fields(Change)])
    table.writerows([harmless(cell) if isinstance(cell, str) else cell for cell in astuple(c)] for c in changes)
    try:
        write_whole(path, out.getvalue().encode("utf-8"))
    except OSError as error:
        raise CallError(f"--csv {path}: can't write there ({error.strerror})") from None
