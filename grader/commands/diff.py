"""`grader diff`: compares two gradings test by test and workload by workload."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeAlias

from rich import box
from rich.table import Table
from rich.text import Text

from grader.base.errors import CallError, convert_write_errors
from grader.base.files import write_whole
from grader.base.terminal import create_console, print_json
from grader.base.text import condense, count, printable
from grader.output.gradebook import encode_csv
from grader.output.summary import print_problems
from grader.results import history
from grader.results.load import demand_results, list_results
from grader.results.previous import find_previous
from grader.results.result import Result, ResultError, read
from grader.results.visibility import PERFORMANCE
from torchkata.result import Outcome

Verdicts: TypeAlias = dict[str, tuple[Outcome, float]]

SCHEMA = "torchkata/diff/v1"
NOT_GRADED: tuple[Outcome, float] = ("not_graded", 0.0)


@dataclass(frozen=True)
class Change:
    """A test with different results or, if `test` is empty, a submission that exists in only one grading."""

    submission: str
    kata: str  # the kata, or PERFORMANCE for speed
    points_before: float | None  # points for the kata; None if it was not graded
    points_after: float | None
    test: str  # name of the test or workload
    outcome_before: str
    outcome_after: str


def run_diff(old: Path, new: Path | None, table: Path | None, *, as_json: bool = False) -> int:
    """Print the changes and write them to `table`. Return 2 if a result cannot be loaded, else 0.

    Without `new`, compare the results in `old` with those that the latest regrade replaced. Raises CallError if a
    directory contains no results or `table` can't be written.
    """
    demand_results(old)
    before, after = list_results(old), list_results(new or old)
    if new is not None:
        demand_results(new)
    elif (replaced := find_previous(old)) is not None:
        before |= list_results(replaced)
    else:
        raise CallError(f"{old}: no submission was graded twice; to compare two directories: grader diff OLD NEW")
    changes: list[Change] = []
    problems: list[str] = []
    revised: dict[tuple[str, str, str], None] = {}
    submissions = sorted({*before, *after})
    for submission in submissions:
        try:
            pair = [read(paths[submission]) if submission in paths else None for paths in (before, after)]
            changes += compare(submission, *pair)
            revised |= dict.fromkeys(find_revised_katas(*pair))
        except ResultError as error:
            problems.append(str(error))
    if table is not None:
        head = [field.name for field in fields(Change)]
        with convert_write_errors(f"--out {table}"):
            write_whole(table, encode_csv([head, *(astuple(change) for change in changes)]))
    out = create_console(stderr=as_json)
    if changes:
        out.print(make_table(changes))
    numbers = Counter((one.kata, one.test, one.outcome_before, one.outcome_after) for one in changes if one.test)
    for (kata, test, *outcomes), number in numbers.items():
        out.print(f"{kata} · {test}: {count(number, 'submission')}, {' → '.join(outcomes)}")
    changed = len({change.submission for change in changes})
    out.print(f"{changed} of {count(len(submissions), 'submission')} {'differs' if changed == 1 else 'differ'}")
    for line in condense([history.describe_changes(*versions) for versions in revised]):
        out.print(line)
    print_problems(create_console(stderr=True), problems)
    code = 2 if problems else 0
    if as_json:
        details = {"submissions": len(submissions), "differ": changed, "changes": changes, "problems": problems}
        print_json({"schema": SCHEMA, "exit_code": code, **details})
    return code


def compare(submission: str, old: Result | None, new: Result | None) -> Iterator[Change]:
    """Yield the differences between two results for the same submission."""
    if old is None or new is None:
        points = [None if result is None else result.score for result in (old, new)]
        outcomes = ["not there" if result is None else "graded" for result in (old, new)]
        yield Change(submission, "", points[0], points[1], "", outcomes[0], outcomes[1])
        return
    before, after = collect_verdicts(old), collect_verdicts(new)
    for kata in dict.fromkeys([*before, *after]):
        yield from compare_tests(submission, kata, before.get(kata), after.get(kata))


def find_revised_katas(old: Result | None, new: Result | None) -> Iterator[tuple[str, str, str]]:
    """Yield each kata whose files in the course changed between the gradings, with both versions of the course."""
    if old is not None and new is not None:
        before = {kata.kata: kata.digest for kata in old.katas if kata.digest}
        for kata in new.katas:
            if kata.digest and before.get(kata.kata, kata.digest) != kata.digest:
                yield kata.kata, old.course, new.course


def compare_tests(submission: str, kata: str, old: Verdicts | None, new: Verdicts | None) -> Iterator[Change]:
    """Yield the tests of a kata that differ. A test that is missing from a result is treated as not graded."""
    points = [None if tests is None else sum((score for _, score in tests.values()), 0.0) for tests in (old, new)]
    before, after = old or {}, new or {}
    for name in dict.fromkeys([*before, *after]):
        tests = before.get(name, NOT_GRADED), after.get(name, NOT_GRADED)
        if tests[0] != tests[1]:
            yield Change(submission, kata, points[0], points[1], name, tests[0][0], tests[1][0])


def collect_verdicts(result: Result) -> dict[str, Verdicts]:
    """Return the outcome and points of each test, grouped by kata, with workloads last."""
    found: dict[str, Verdicts] = {
        kata.kata: {test.name: (test.outcome, test.score) for test in kata.tests} for kata in result.katas
    }
    if result.performance:
        found[PERFORMANCE] = {
            timed.workload: (timed.outcome, timed.score if timed.counts else 0.0) for timed in result.performance
        }
    return found


def make_table(changes: list[Change]) -> Table:
    """Return the changes as a table for the terminal."""
    table = Table("submission", "kata", "points", "test", "outcome", box=box.SIMPLE_HEAD)
    for change in changes:
        table.add_row(
            Text(printable(change.submission)),
            Text(printable(change.kata)),
            f"{format_points(change.points_before)} → {format_points(change.points_after)}",
            Text(printable(change.test)),
            Text(f"{change.outcome_before} → {change.outcome_after}"),
        )
    return table


def format_points(points: float | None) -> str:
    """Format points, using a dash for None."""
    return "-" if points is None else f"{points:g}"
