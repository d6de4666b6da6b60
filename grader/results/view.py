"""What the reader of an export may see of each test, by the visibility in `kata.toml`."""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.results.result import REHEARSAL, KataResult, PerformanceResult, Result, TestResult
from grader.results.text import one_line, printable
from torchkata.course import Kata, Visibility, course
from torchkata.explain import Outcome

PERFORMANCE = "performance"
NOTHING = "This test is hidden."
REST_IS_HIDDEN = "  What it asked and what came back is hidden."
TOLD = ("passed", "not_started", "inconclusive", "not_graded")  # the others say how an answer was wrong


@dataclass(frozen=True)
class Seen:
    """One test, as far as it may be seen; all texts are printable."""

    group: str  # its kata, or PERFORMANCE
    test: str
    title: str
    visibility: Visibility
    outcome: Outcome
    score: float
    max_score: float
    message: str
    file: str
    line: int
    seconds: float
    counts: bool = True  # where not, it has no points to earn either
    rehearsed: bool = False  # it has none, although it counts

    @property
    def points(self) -> str:
        """`5 of 5 points`, or that there are none to earn."""
        return REHEARSAL if self.rehearsed else f"{self.score:g} of {self.max_score:g} points"


def seen(result: Result, *, platform_hides: bool) -> list[Seen]:
    """All tests of a result, in order, then its workloads.

    `platform_hides` says that the platform itself keeps a test back as its visibility demands. Elsewhere whatever is
    not visible to all is withheld here. Raises ValueError for a test or a workload that the course does not have.
    """
    tests = [row for kata in result.katas for row in seen_of(kata, platform_hides=platform_hides)]
    return [*tests, *(timed(workload) for workload in result.performance)]


def unhidden(result: Result) -> list[Seen]:
    """As `seen`, for the instructor: nothing is withheld. Raises ValueError."""
    katas = [(kata_of(one), one.tests) for one in result.katas]
    tests = [row(kata, test, message=test.message) for kata, tests in katas for test in tests]
    return [*tests, *(timed(workload) for workload in result.performance)]


def kata_of(result: KataResult) -> Kata:
    """What the course says of it. Raises ValueError where that has none of its tests."""
    kata = course().katas.get(result.kata)
    if kata is None or not {test.name for test in result.tests} <= kata.points.keys():
        raise ValueError(f"kata {one_line(result.kata)} has changed since; grade again")
    return kata


def seen_of(result: KataResult, *, platform_hides: bool) -> Iterator[Seen]:
    """The tests of one kata."""
    kata = kata_of(result)
    for number, test in enumerate(result.tests, start=1):
        open_now = kata.visibility[test.name] == "visible"
        in_time = platform_hides and kata.visibility[test.name] != "hidden"
        if open_now or in_time or kata.hidden_says == "all":
            yield row(kata, test, message=test.message)
        elif kata.hidden_says == "claim" or platform_hides:
            yield row(kata, test, message=withheld(kata, test), place=False)
        else:
            yield anonymous(kata, test, number)


def row(kata: Kata, test: TestResult, *, message: str, place: bool = True) -> Seen:
    """A test by its name."""
    return Seen(
        group=kata.name,
        test=test.name,
        title=test.name.removeprefix("test_").replace("_", " "),
        visibility=kata.visibility[test.name],
        outcome=test.outcome if place else told(test.outcome),
        score=test.score,
        max_score=test.max_score,
        message=printable(message),
        file=printable(test.file) if place else "",
        line=test.line if place else 0,
        seconds=test.seconds,
    )


def anonymous(kata: Kata, test: TestResult, number: int) -> Seen:
    """A test of which only the points are known."""
    return Seen(
        group=kata.name,
        test=f"hidden_test_{number}",
        title=f"hidden test {number}",
        visibility=kata.visibility[test.name],
        outcome=told(test.outcome),
        score=test.score,
        max_score=test.max_score,
        message=NOTHING if test.message else "",
        file="",
        line=0,
        seconds=0.0,
    )


def timed(result: PerformanceResult) -> Seen:
    """A workload; everybody may see it."""
    if result.workload not in course().workloads:
        raise ValueError(f"workload {one_line(result.workload)} has changed since; grade again")
    return Seen(
        group=PERFORMANCE,
        test=result.workload,
        title=result.workload.replace("_", " "),
        visibility="visible",
        outcome=result.outcome,
        score=result.score if result.counts else 0.0,
        max_score=result.max_score if result.counts else 0.0,
        message=printable(result.message),
        file="",
        line=0,
        seconds=result.seconds,
        counts=result.counts,
        rehearsed=result.rehearsed,
    )


def withheld(kata: Kata, test: TestResult) -> str:
    """What stands in the place of a message that may not be read."""
    if not test.message:
        return ""
    claim = test.message.partition("\n")[0]
    return f"{claim}\n{REST_IS_HIDDEN}" if kata.hidden_says == "claim" else NOTHING


def told(outcome: Outcome) -> Outcome:
    """The outcome without the way in which an answer was wrong."""
    return outcome if outcome in TOLD else "failed"
