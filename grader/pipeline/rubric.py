"""From how the tests ended to points: `kata.toml` says what each is worth, and nothing else earns any."""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.results.result import KataResult, TestResult
from torchkata.course import Kata
from torchkata.explain import Ending, status_of


@dataclass(frozen=True)
class Timed:
    """How a test ended, and how long it took."""

    ending: Ending
    seconds: float


DID_NOT_RUN = Ending("inconclusive", "this test did not run; that is not your fault")


def score(kata: Kata, ended: Mapping[str, Timed], *, missing: Ending = DID_NOT_RUN) -> KataResult:
    """A kata's points. A test of the kata that did not end is `missing`; one that is not in it counts nothing."""
    tests = [
        TestResult(
            name=name,
            outcome=timed.ending.outcome,
            score=points if timed.ending.outcome == "passed" else 0.0,
            max_score=points,
            message=timed.ending.message,
            diagnosis=timed.ending.diagnosis or None,
            seconds=round(timed.seconds, 4),
            file=timed.ending.place.file,
            line=timed.ending.place.line,
        )
        for name, points in kata.points.items()
        for timed in [ended.get(name, Timed(missing, 0.0))]
    ]
    status = status_of([test.outcome for test in tests])
    return KataResult(kata.name, status, sum(test.score for test in tests), kata.max_score, tests)
