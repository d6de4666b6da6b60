"""One submission as its page shows it: a part for each kata, and one for the speed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from grader.output.speed_score import SpeedScore, speed_score
from grader.results.result import KataResult, Result
from grader.results.view import PERFORMANCE, VisibleTest, title_of
from torchkata.course import course
from torchkata.pytest_plugin.failure_groups import group_failures
from torchkata.result import Outcome, get_status

SETTLED: tuple[Outcome, ...] = ("passed", "not_started", "not_graded")  # a line says all of such a test


@dataclass(frozen=True)
class Part:
    """A kata, all workloads together, or a hand-in that can't be read: how it ended and its tests.

    The same for all who did the same.
    """

    title: str
    result: KataResult  # without tests
    tests: tuple[VisibleTest, ...]
    shares: tuple[SpeedScore | None, ...] = ()  # of the workloads, what was measured

    @property
    def rehearsed(self) -> bool:
        """Whether it was graded where there are no points to earn."""
        return any(test.rehearsed for test in self.tests)

    @property
    def file(self) -> str:
        """Where its code is; nothing where it is no kata."""
        return f"{self.result.kata}.py" if self.result.kata in course().katas else ""

    @property
    def passed(self) -> bool:
        """Whether a line says all of it."""
        return self.result.status == "done" and not self.shares

    @property
    def told(self) -> list[tuple[bool, list[VisibleTest]]]:
        """The tests that there is more to say about, those that fail for one reason together; whether they wait."""
        rows = {id(test.result): test for test in self.tests}
        open_ones = [test.result for test in self.tests if test.result.outcome not in SETTLED]
        return [(block.waits, [rows[id(result)] for result in block.tests]) for block in group_failures(open_ones)]

    @property
    def settled(self) -> list[VisibleTest]:
        """The others."""
        return [test for test in self.tests if test.result.outcome in SETTLED]


def parts_of(result: Result, rows: Sequence[VisibleTest]) -> list[Part]:
    """The parts of a result, made of those rows of it that the page's reader may see.

    A kata's status is that of its rows, too: the stored one could say how a hidden test was failed.
    """
    parts = []
    for name, group in groupby(rows, key=lambda row: row.group):
        tests = tuple(replace(row, result=replace(row.result, seconds=0.0)) for row in group)
        timed = name == PERFORMANCE
        seen = KataResult(
            name,
            get_status([row.result.outcome for row in tests if row.result.outcome != "not_graded"]),
            sum(row.result.score for row in tests),
            sum(row.result.max_score for row in tests),
        )
        shares = tuple(speed_score(one) for one in result.performance) if timed else ()
        parts.append(Part(title_of(name), seen, tests, shares))
    return parts
