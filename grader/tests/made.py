"""Results made by hand: every outcome, hostile words."""

from grader.result import KataResult, Result, TestResult
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
