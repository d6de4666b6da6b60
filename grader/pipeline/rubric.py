"""Converts test results to points, using the `points` in `kata.toml`."""

from collections.abc import Mapping
from dataclasses import replace

from grader.results.result import KataResult
from torchkata.course import Kata
from torchkata.result import EARNED, TestResult, get_status

DID_NOT_RUN = TestResult("", "inconclusive", message="this test did not run; this is not your fault")


def score(kata: Kata, ended: Mapping[str, TestResult], *, missing: TestResult = DID_NOT_RUN) -> KataResult:
    """Compute the points of a kata. A test without a result is scored as `missing`; unknown tests are ignored."""
    tests = []
    for name, points in kata.points.items():
        test = ended.get(name, missing)
        tests.append(replace(test, name=name, score=points if test.outcome in EARNED else 0.0, max_score=points))
    status = get_status([test.outcome for test in tests])
    return KataResult(kata.name, status, sum(test.score for test in tests), kata.max_score, tuple(tests))
