"""Creates the sections (parts) of a submission's page: one for each kata, and one for speed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from grader.output.speed_score import SpeedScore, speed_score
from grader.results.result import KataResult, Result
from grader.results.visibility import PERFORMANCE, VisibleTest, group_title
from torchkata.course import course
from torchkata.pytest_plugin.failure_groups import group_failures
from torchkata.result import Outcome, get_status

SETTLED: tuple[Outcome, ...] = ("passed", "waived", "not_started", "not_graded")  # shown on a single line


@dataclass(frozen=True)
class Part:
    """The status and tests of a kata, of all workloads, or of a submission that could not be read."""

    title: str
    result: KataResult  # the result without its tests
    tests: tuple[VisibleTest, ...]
    shares: tuple[SpeedScore | None, ...] = ()  # scores of the workloads; None if not measured

    @property
    def rehearsed(self) -> bool:
        """Whether the part was graded on a device on which speed earns no points."""
        return any(test.rehearsed for test in self.tests)

    @property
    def file(self) -> str:
        """The name of the kata's file, or "" for other parts."""
        return f"{self.result.kata}.py" if self.result.kata in course().katas else ""

    @property
    def passed(self) -> bool:
        """Whether the part can be shown on a single line."""
        return self.result.status == "done" and not self.shares

    @property
    def unsettled(self) -> list[tuple[bool, list[VisibleTest]]]:
        """The tests that need attention, grouped by cause. True marks a group that fails because of another group."""
        rows = {id(test.result): test for test in self.tests}
        open_ones = [test.result for test in self.tests if test.result.outcome not in SETTLED]
        return [(block.waits, [rows[id(result)] for result in block.tests]) for block in group_failures(open_ones)]

    @property
    def settled(self) -> list[VisibleTest]:
        """The tests that are shown on a single line each."""
        return [test for test in self.tests if test.result.outcome in SETTLED]


def make_parts(result: Result, rows: Sequence[VisibleTest]) -> list[Part]:
    """Return the parts of a result, using only the rows that the reader may see.

    The status of a kata is computed from these rows as well, because the stored status could reveal how a hidden test
    failed.
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
        parts.append(Part(group_title(name), seen, tests, shares))
    return parts
