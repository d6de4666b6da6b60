"""The share of a kata's points that each wrong entry loses, compared with the level of the rule that it breaks.

A mistake against a central rule may keep at most `MOST_KEPT` of the points, and must fail a central test. One against
a convention may lose at most `MOST_LOST`, and must fail a test of the conventions. `[exceptions]` in wrong.toml lists
an entry of a kata to which the limits do not apply, with the reason.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from rich import box
from rich.table import Table

from grader.proof.zoo import ZooEntry
from grader.results.result import KataResult
from torchkata.course import Kata

MOST_KEPT = 0.6
MOST_LOST = 0.25

FailedTests: TypeAlias = Mapping[str, Mapping[str, Set[str]]]  # the failed tests, by kata and entry


def find_failed(kata: Kata, result: KataResult) -> frozenset[str] | None:
    """Return the tests of the kata that failed, or None if not all of them ran."""
    passed = {test.name: test.outcome == "passed" for test in result.tests}
    return frozenset(name for name in passed if not passed[name]) if passed.keys() == kata.points.keys() else None


def measure_share(kata: Kata, failed: Set[str]) -> float:
    """Return the share of a kata's points that these tests are worth."""
    return sum(kata.points[name] for name in failed) / kata.max_score


def find_unfair(kata: Kata, failed: Mapping[str, Set[str]], entries: Sequence[ZooEntry]) -> Iterator[str]:
    """Yield a line for each wrong entry that loses too few or too many points, or fails for another reason.

    Args:
        failed: The failed tests of the entries whose tests all ran.
        entries: All wrong entries of the kata.
    """
    if len(excepted := [entry.name for entry in entries if entry.exception]) > 1:
        yield f"points: {kata.name}/wrong.toml has the exceptions {', '.join(excepted)}; a kata may have only one"
    for entry in entries:
        if entry.name in failed:
            problem = judge_share(kata, entry, failed[entry.name])
            if problem and not entry.exception:
                yield f"points: wrong {kata.name} {entry.name} {problem}"
            elif entry.exception and not problem:
                yield f"points: {kata.name}/wrong.toml: {entry.name} needs no exception: delete it"


def judge_share(kata: Kata, entry: ZooEntry, failed: Set[str]) -> str | None:
    """Return what is wrong with the points that an entry loses, or None if nothing is."""
    share = measure_share(kata, failed)
    if entry.level != "essential" and not failed & {*kata.tests[entry.level]}:
        return f"breaks a rule in {entry.level}, but passes all tests that kata.toml lists there"
    if entry.level == "central" and 1 - share > MOST_KEPT:
        return f"breaks a central rule and keeps {1 - share:.0%} of the points; at most {MOST_KEPT:.0%} would be fair"
    if entry.level == "conventions" and share > MOST_LOST:
        return f"breaks a convention and loses {share:.0%} of the points; at most {MOST_LOST:.0%} would be fair"
    return None


def tabulate_shares(failed: FailedTests, katas: Sequence[Kata], entries: Mapping[str, Sequence[ZooEntry]]) -> Table:
    """Return a table with the level and the lost share of each wrong entry whose tests all ran."""
    table = Table("wrong entry", "level", "points lost", box=box.SIMPLE_HEAD)
    for kata in katas:
        own = failed.get(kata.name, {})
        for entry in entries.get(kata.name, ()):
            if entry.name in own:
                share = f"{measure_share(kata, own[entry.name]):.0%}"
                table.add_row(f"{kata.name} · {entry.name}", entry.level, share)
    return table
