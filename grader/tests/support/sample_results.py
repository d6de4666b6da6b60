"""Sample results with every outcome, and with text that a report must escape."""

from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from grader.results.result import KataResult, PerformanceResult, Result
from torchkata.course import Kata, Tier, course
from torchkata.result import Outcome, TestResult, get_status

OUTCOMES: tuple[Outcome, ...] = tuple(outcome for outcome in get_args(Outcome) if outcome != "waived")
HOSTILE = (
    "linear · Linear(x) is x @ weight\n"
    "  yours     </failure><script>alert(1)</script> ]]> <!-- &amp; %0A::error::forged\n"
    "::error file=etc.py::forged\r::set-output name=x::y\n"
    "  printed   ``` ```` | [link](http://example.org) **bold** \x00\x07\x1b[31mred\x9b \ud800 \ufffe \U0001f600\n"
    "  again: pytest"
)


def make_result(message: str = HOSTILE, *, submission: str = "ada", kata: str = "get_batch", file: str = "") -> Result:
    """Return the result of a kata with tests of every outcome. Tests that did not pass have this message."""
    graded = course().katas[kata]
    line = 7 if file else 0
    tests = [
        TestResult(name, "passed", points, points, seconds=0.25, file=file, line=line)
        if outcome == "passed"
        else TestResult(name, outcome, 0.0, points, message, seconds=0.25, file=file, line=line)
        for (name, points), outcome in zip(graded.points.items(), OUTCOMES * 2, strict=False)
    ]
    return assemble_result(submission, [make_kata_result(graded, tests)])


def make_kata_result(kata: Kata, tests: Sequence[TestResult]) -> KataResult:
    status = get_status([test.outcome for test in tests])
    return KataResult(kata.name, status, sum(test.score for test in tests), kata.max_score, tuple(tests))


def assemble_result(
    submission: str, katas: Sequence[KataResult], performance: Sequence[PerformanceResult] = (), **changes: Any
) -> Result:
    """Return the result of a submission, including its total points."""
    parts: list[Any] = [*katas, *(workload for workload in performance if workload.counts)]
    usual: dict[str, Any] = {"hand_in": "0", "seed": 0, "examples": 10, "isolation": "bwrap"}
    usual |= {"seconds": 1.5, "environment": {}}
    return Result(
        submission=submission,
        score=sum(part.score for part in parts),
        max_score=sum(part.max_score for part in parts),
        katas=list(katas),
        performance=list(performance),
        **(usual | changes),
    )


def make_timed_results(message: str = HOSTILE) -> list[PerformanceResult]:
    """Return workload results with all outcomes, measured relative to the peak, the baseline or neither."""
    return [
        make_measured_result(
            "linear_forward", 5, 5, message, ratio=0.95, thresholds=(0.64, 0.77), mfu=0.74, rate=7.4e14, unit="FLOP"
        ),
        make_measured_result(
            "cruncher_step", 0, 5, message, ratio=0.5, thresholds=(0.56, 0.69), mfu=0.4, rate=4e14, unit="FLOP"
        ),
        PerformanceResult("train_throughput", "failed", 0, 5, message, unit="FLOP"),  # a wrong result
        make_measured_result("sgd_step", 2, 3, message, ratio=0.6, thresholds=(0.45, 0.75), rate=2.4e12, unit="B"),
        PerformanceResult("adagrad_step", "crashed", 0, 4, message),
        PerformanceResult("get_batch_throughput", "inconclusive", 0, 3, message),
    ]


def make_cpu_results(message: str = HOSTILE) -> list[PerformanceResult]:
    """Return results of the same workloads on a CPU, where speed earns no points."""
    tiers: dict[str, Tier] = {"linear_forward": "full", "sgd_step": "passing"}
    return [
        msgspec.structs.replace(timed, score=0.0, max_score=0.0, mfu=None, tier=tiers.get(timed.workload))
        for timed in make_timed_results(message)
    ]


def make_measured_result(
    workload: str, score: float, max_score: float, message: str, *, ratio: float, **given: Any
) -> PerformanceResult:
    """Return a workload result with the given ratio and an interval of ±2%."""
    outcome: Outcome = "passed" if score else "failed"
    given |= {"ratio": ratio, "interval": (0.98 * ratio, 1.02 * ratio), "blocks": 10, "seconds": 4.0}
    return PerformanceResult(workload, outcome, score, max_score, message, **given)


def make_result_with_speed(message: str = HOSTILE, *, submission: str = "ada") -> Result:
    """Return `make_result()` with workloads timed on a GPU, which add 7 of 22 points."""
    katas = make_result(message, submission=submission).katas
    return assemble_result(submission, katas, make_timed_results(message), device="cuda")


def make_result_with_cpu_speed(message: str = HOSTILE) -> Result:
    """Return `make_result()` with workloads timed on a CPU, which add no points."""
    return assemble_result("ada", make_result(message).katas, make_cpu_results(message), device="cpu")
