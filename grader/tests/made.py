"""Results made by hand: every outcome, hostile words."""

import msgspec

from grader.result import KataResult, PerformanceResult, Result, TestResult
from kata.catalog import catalog
from kata.explain import Outcome, status_of

OUTCOMES: tuple[Outcome, ...] = (
    "passed",
    "failed",
    "crashed",
    "timed_out",
    "not_started",
    "inconclusive",
    "not_graded",
)
HOSTILE = (
    "linear · Linear(x) is x @ weight\n"
    "  yours     </failure><script>alert(1)</script> ]]> <!-- &amp; %0A::error::forged\n"
    "::error file=etc.py::forged\r::set-output name=x::y\n"
    "  printed   ``` ```` | [link](http://example.org) **bold** \x00\x07\x1b[31mred\x9b \ud800 \ufffe \U0001f600\n"
    "  again: pytest"
)


def result(message: str = HOSTILE, *, submission: str = "ada", kata: str = "get_batch", file: str = "") -> Result:
    """A kata whose tests ended in every way there is, all with this message."""
    points = catalog().katas[kata].points
    outcomes = dict(zip(points, OUTCOMES * 2, strict=False))
    tests = [
        TestResult(
            name=name,
            outcome=outcomes[name],
            score=points[name] if outcomes[name] == "passed" else 0.0,
            max_score=points[name],
            message="" if outcomes[name] == "passed" else message,
            seconds=0.25,
            file=file,
            line=7 if file else 0,
        )
        for name in points
    ]
    score, most = sum(test.score for test in tests), sum(points.values())
    graded = KataResult(kata, status_of([test.outcome for test in tests]), score, most, tests)
    return Result(
        submission=submission,
        score=score,
        max_score=most,
        fingerprint="sha256:0",
        seed=0,
        examples=10,
        isolation="bwrap",
        seconds=1.5,
        environment={},
        katas=[graded],
    )


def timed(message: str = HOSTILE) -> list[PerformanceResult]:
    """Workloads that ended in every way there is: by share of the peak, of the yardstick, and without any."""
    return [
        PerformanceResult("linear_forward", "passed", 5, 5, message, 0.95, (0.73, 0.75), 0.74, 7.4e14, "FLOP", 10, 4.0),
        PerformanceResult("cruncher_step", "failed", 0, 5, message, 0.5, (0.39, 0.41), 0.4, 4e14, "FLOP", 20, 8.0),
        PerformanceResult("train_throughput", "failed", 0, 4, message, 1.2, (1.1, 1.3), None, 5e14, "FLOP", 10, 4.0),
        PerformanceResult("sgd_step", "passed", 2, 3, message, 0.6, (0.59, 0.62), None, 2.4e12, "B", 10, 4.0),
        PerformanceResult("adagrad_step", "crashed", 0, 3, message),
        PerformanceResult("get_batch_throughput", "inconclusive", 0, 2, message, 0.7, (0.2, 0.9), None, 1e9, "tokens"),
        PerformanceResult("no_hidden_sync", "passed", 1, 1, message, 1.0, (1.0, 1.0)),
        PerformanceResult("peak_memory", "not_graded", 0, 2, message),
    ]


def result_with_speed(message: str = HOSTILE, *, submission: str = "ada") -> Result:
    """`result` with `timed` on a GPU: 8 of 21 points more."""
    made, workloads = result(message, submission=submission), timed(message)
    return msgspec.structs.replace(
        made,
        device="cuda",
        performance=workloads,
        score=made.score + sum(one.score for one in workloads if one.counts),
        max_score=made.max_score + sum(one.max_score for one in workloads if one.counts),
    )
