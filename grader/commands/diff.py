"""`grader diff`: what a regrade changed, test by test, workload by workload."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeAlias

from rich import box
from rich.table import Table
from rich.text import Text

from grader.base.errors import CallError
from grader.base.terminal import create_console, print_json
from grader.output.gradebook import csv_of
from grader.output.summary import tell
from grader.results import history
from grader.results.load import demand_results, stored_in
from grader.results.result import Result, ResultError, read, write_whole
from grader.results.text import printable
from grader.results.view import PERFORMANCE
from torchkata.result import Outcome

Verdicts: TypeAlias = dict[str, tuple[Outcome, float]]

SCHEMA = "torchkata/diff/v1"
NOT_GRADED: tuple[Outcome, float] = ("not_graded", 0.0)


@dataclass(frozen=True)
class Change:
    """A test that ends in another way, or earns other points; without a test, a whole submission that came or went."""

    submission: str
    kata: str  # or PERFORMANCE
    points_before: float | None  # of the kata; None where there is nothing
    points_after: float | None
    test: str  # or the workload
    outcome_before: str
    outcome_after: str


def run_diff(old: Path, new: Path, table: Path | None, *, as_json: bool = False) -> int:
    """Print what changed, and write it to `table`; 2 where a result can't be read, else 0. Raises CallError."""
    demand_results(old)
    demand_results(new)
    changes: list[Change] = []
    problems: list[str] = []
    asked: dict[tuple[str, str, str], None] = {}
    before, after = stored_in(old), stored_in(new)
    submissions = sorted({*before, *after})
    for submission in submissions:
        try:
            pair = [read(paths[submission]) if submission in paths else None for paths in (before, after)]
            changes += compare(submission, *pair)
            asked |= dict.fromkeys(asked_otherwise(*pair))
        except ResultError as error:
            problems.append(str(error))
    if table is not None:
        save(changes, table)
    out = create_console(stderr=as_json)
    if changes:
        out.print(table_of(changes))
    changed = len({change.submission for change in changes})
    out.print(f"{changed} of {len(submissions)} submissions differ")
    for versions in asked:
        out.print(printable(history.changes(*versions)), markup=False, soft_wrap=True)
    tell(create_console(stderr=True), problems)
    code = 2 if problems else 0
    if as_json:
        told = {"submissions": len(submissions), "differ": changed, "changes": changes, "problems": problems}
        print_json({"schema": SCHEMA, "exit_code": code, **told})
    return code


def compare(submission: str, old: Result | None, new: Result | None) -> Iterator[Change]:
    """What is different between two results of one submission."""
    if old is None or new is None:
        scores = [None if result is None else result.score for result in (old, new)]
        words = ["not there" if result is None else "graded" for result in (old, new)]
        yield Change(submission, "", scores[0], scores[1], "", words[0], words[1])
        return
    before, after = verdicts(old), verdicts(new)
    for kata in dict.fromkeys([*before, *after]):
        yield from compare_tests(submission, kata, before.get(kata), after.get(kata))


def asked_otherwise(old: Result | None, new: Result | None) -> Iterator[tuple[str, str, str]]:
    """Each kata of which the course says something else now, and the two versions of the course."""
    if old is not None and new is not None:
        before = {kata.kata: kata.digest for kata in old.katas if kata.digest}
        for kata in new.katas:
            if kata.digest and before.get(kata.kata, kata.digest) != kata.digest:
                yield kata.kata, old.course, new.course


def compare_tests(submission: str, kata: str, old: Verdicts | None, new: Verdicts | None) -> Iterator[Change]:
    """The tests of a kata that differ; one that is on one side only was not graded on the other."""
    points = [None if tests is None else sum((score for _, score in tests.values()), 0.0) for tests in (old, new)]
    before, after = old or {}, new or {}
    for name in dict.fromkeys([*before, *after]):
        tests = before.get(name, NOT_GRADED), after.get(name, NOT_GRADED)
        if tests[0] != tests[1]:
            yield Change(submission, kata, points[0], points[1], name, tests[0][0], tests[1][0])


def verdicts(result: Result) -> dict[str, Verdicts]:
    """What counts of each test: its outcome and its points; by kata, and last the workloads."""
    found: dict[str, Verdicts] = {
        kata.kata: {test.name: (test.outcome, test.score) for test in kata.tests} for kata in result.katas
    }
    if result.performance:
        found[PERFORMANCE] = {
            timed.workload: (timed.outcome, timed.score if timed.counts else 0.0) for timed in result.performance
        }
    return found


def table_of(changes: list[Change]) -> Table:
    """The changes for the terminal."""
    table = Table("submission", "kata", "points", "test", "outcome", box=box.SIMPLE_HEAD)
    for change in changes:
        table.add_row(
            Text(printable(change.submission)),
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
    head = [field.name for field in fields(Change)]
    try:
        write_whole(path, csv_of([head, *(astuple(change) for change in changes)]))
    except OSError as error:
        raise CallError(f"--csv {path}: can't write there ({error.strerror})") from None
