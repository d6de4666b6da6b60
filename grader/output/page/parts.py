"""One submission as its page shows it: a part for each kata, and one for the speed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from grader.output.speed_score import SpeedScore, speed_score
from grader.results.result import Result
from grader.results.view import PERFORMANCE, Seen
from torchkata.course import course
from torchkata.explain import Status, status_of

SETTLED = ("passed", "not_started", "not_graded")  # a line says all of such a test


@dataclass(frozen=True)
class Part:
    """A kata, or all workloads together: how it ended and its tests. The same for all who did the same."""

    name: str
    title: str
    status: Status
    score: float
    max_score: float
    tests: tuple[Seen, ...]
    shares: tuple[SpeedScore | None, ...] = ()  # of the workloads, what was measured

    @property
    def rehearsed(self) -> bool:
        """Whether it was graded where there are no points to earn."""
        return any(test.rehearsed for test in self.tests)

    @property
    def open(self) -> list[Seen]:
        """The tests that there is more to say about."""
        return [test for test in self.tests if test.outcome not in SETTLED]

    @property
    def settled(self) -> list[Seen]:
        """The others."""
        return [test for test in self.tests if test.outcome in SETTLED]


def parts_of(result: Result, rows: Sequence[Seen]) -> list[Part]:
    """The parts of a result, made of those rows of it that the page's reader may see.

    A kata's status is that of its rows, too: the stored one could say how a hidden test was failed.
    """
    parts = []
    for name, group in groupby(rows, key=lambda row: row.group):
        tests = tuple(replace(row, seconds=0.0) for row in group)
        timed = name == PERFORMANCE
        part = Part(
            name=name,
            title="Speed" if timed else course().katas[name].title,
            status=status_of([row.outcome for row in tests if row.outcome != "not_graded"]),
            score=sum(row.score for row in tests),
            max_score=sum(row.max_score for row in tests),
            tests=tests,
            shares=tuple(speed_score(one) for one in result.performance) if timed else (),
        )
        parts.append(part)
    return parts
