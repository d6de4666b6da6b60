"""Results made by hand: every outcome, hostile words."""

from typing import Any

import msgspec

from grader.results.result import KataResult, PerformanceResult, Result
from torchkata.course import Tier, course
from torchkata.result import Outcome, TestResult, get_status

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


def make_result(message: str = HOSTILE, *, submission: str = "ada", kata: str = "get_batch", file: str = "") -> Result:
    """A kata whose tests ended in every way there is, all with this message."""
    points = course().katas[kata].points
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
    graded = KataResult(kata, get_status([test.outcome for test in tests]), score, most, tuple(tests))
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


def make_timed_results(message: str = HOSTILE) -> list[PerformanceResult]:
    """Workloads that ended in every way there is: by share of the peak, of the baseline, and without any."""
    return [
        make_measured_result(
            "linear_forward", 5, 5, message, ratio=0.95, thresholds=(0.64, 0.77), mfu=0.74, rate=7.4e14, unit="FLOP"
        ),
        make_measured_result(
            "cruncher_step", 0, 5, message, ratio=0.5, thresholds=(0.56, 0.69), mfu=0.4, rate=4e14, unit="FLOP"
        ),
        PerformanceResult("train_throughput", "failed", 0, 4, message, unit="FLOP"),  # a wrong result
        make_measured_result("sgd_step", 2, 3, message, ratio=0.6, thresholds=(0.45, 0.75), rate=2.4e12, unit="B"),
        PerformanceResult("adagrad_step", "crashed", 0, 3, message),
        PerformanceResult("get_batch_throughput", "inconclusive", 0, 2, message),
        make_measured_result("no_hidden_sync", 1, 1, message, ratio=1.0, thresholds=(1.0, 1.0)),
        PerformanceResult("peak_memory", "not_graded", 0, 2, message),
    ]


def make_cpu_results(message: str = HOSTILE) -> list[PerformanceResult]:
    """`timed` on a device on which speed earns no points."""
    tiers: dict[str, Tier] = {"linear_forward": "full", "sgd_step": "passing", "no_hidden_sync": "full"}
    return [
        msgspec.structs.replace(one, score=0.0, max_score=0.0, mfu=None, tier=tiers.get(one.workload))
        for one in make_timed_results(message)
    ]


def make_measured_result(
    workload: str, score: float, max_score: float, message: str, *, ratio: float, **given: Any
) -> PerformanceResult:
    """Return a workload with a figure, and an interval of 2 % around it."""
    outcome: Outcome = "passed" if score else "failed"
    given |= {"ratio": ratio, "interval": (0.98 * ratio, 1.02 * ratio), "blocks": 10, "seconds": 4.0}
    return PerformanceResult(workload, outcome, score, max_score, message, **given)


def make_result_with_speed(message: str = HOSTILE, *, submission: str = "ada") -> Result:
    """`result` with `timed` on a GPU: 8 of 21 points more."""
    made, workloads = make_result(message, submission=submission), make_timed_results(message)
    return msgspec.structs.replace(
        made,
        device="cuda",
        performance=workloads,
        score=made.score + sum(one.score for one in workloads if one.counts),
        max_score=made.max_score + sum(one.max_score for one in workloads if one.counts),
    )


def make_result_with_cpu_speed(message: str = HOSTILE, *, submission: str = "ada") -> Result:
    """`result` with `rehearsed` on a CPU: no points more."""
    made = make_result(message, submission=submission)
    return msgspec.structs.replace(made, device="cpu", performance=make_cpu_results(message))
