"""From how the tests ended to points: the catalog says what each is worth, and nothing else earns any."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.result import KataResult, TestResult
from kata.catalog import Kata
from kata.explain import Ending, status_of


@dataclass(frozen=True)
class Timed:
    """How a test ended, and how long it took."""

    ending: Ending
    seconds: float


def score(kata: Kata, ended: Mapping[str, Timed]) -> KataResult:
    """A kata's points. A test of the catalog that did not end is inconclusive; one that is not in it counts nothing."""
    missing = Timed(Ending("inconclusive", "this test did not run; that is not your fault"), 0.0)
    tests = [
        TestResult(
            name=name,
            outcome=timed.ending.outcome,
            score=points if timed.ending.outcome == "passed" else 0.0,
            max_score=points,
            message=timed.ending.message,
            seconds=round(timed.seconds, 4),
        )
        for name, points in kata.points.items()
        for timed in [ended.get(name, missing)]
    ]
    status = status_of([test.outcome for test in tests])
    return KataResult(kata.name, status, sum(test.score for test in tests), kata.max_score, tests)
