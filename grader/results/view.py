"""What the reader of an export may see of each test, by the visibility in `kata.toml`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from grader.results.result import KataResult, PerformanceResult, Result
from grader.results.text import one_line, printable
from torchkata.course import Kata, Visibility, course
from torchkata.i18n import class_words
from torchkata.i18n.katas import class_title_of, class_title_of_test
from torchkata.result import TestResult

PERFORMANCE = "performance"
HAND_IN = "hand-in"
TOLD = ("passed", "not_started", "inconclusive", "not_graded")  # the others say how an answer was wrong


@dataclass(frozen=True)
class VisibleTest:
    """A test or a workload as its reader may see it; all texts are printable."""

    group: str  # its kata, PERFORMANCE, or HAND_IN
    title: str
    visibility: Visibility
    result: TestResult
    counts: bool = True  # where not, it has no points to earn either
    rehearsed: bool = False  # it has none, although it counts

    @property
    def points(self) -> str:
        """`5 of 5 points`, or that there are none to earn."""
        if self.rehearsed:
            return class_words("feedback.rehearsal")
        return class_words("feedback.points", earned=f"{self.result.score:g}", most=f"{self.result.max_score:g}")


def visible(result: Result, *, platform_hides: bool) -> list[VisibleTest]:
    """All tests of a result, in order, then its workloads, and one that failed for what could not be read.

    `platform_hides` says that the platform itself keeps a test back as its visibility demands. Elsewhere whatever is
    not visible to all is withheld here. Raises ValueError for a test or a workload that the course does not have.
    """
    tests = [row for kata in result.katas for row in visible_of(kata, platform_hides=platform_hides)]
    return [*tests, *(timed(workload) for workload in result.performance), *unreadable(result)]


def unredacted(result: Result) -> list[VisibleTest]:
    """As `visible`, for the instructor: nothing is withheld. Raises ValueError."""
    katas = [(kata_of(one), one.tests) for one in result.katas]
    tests = [row(kata, test, message=test.message) for kata, tests in katas for test in tests]
    return [*tests, *(timed(workload) for workload in result.performance), *unreadable(result)]


def kata_of(result: KataResult) -> Kata:
    """What the course says of it. Raises ValueError where that has none of its tests."""
    kata = course().katas.get(result.kata)
    if kata is None or not {test.name for test in result.tests} <= kata.points.keys():
        raise ValueError(f"kata {one_line(result.kata)} has changed since; grade again")
    return kata


def visible_of(result: KataResult, *, platform_hides: bool) -> Iterator[VisibleTest]:
    """The tests of one kata."""
    kata = kata_of(result)
    for number, test in enumerate(result.tests, start=1):
        open_now = kata.visibility[test.name] == "visible"
        in_time = platform_hides and kata.visibility[test.name] != "hidden"
        if open_now or in_time or kata.hidden_says == "all":
            yield row(kata, test, message=test.message)
        elif kata.hidden_says == "claim" or platform_hides:
            yield row(kata, redacted(test), message=withheld(kata, test))
        else:
            anonymous = replace(redacted(test), name=f"hidden_test_{number}", seconds=0.0)
            message = class_words("feedback.hidden") if test.message else ""
            yield replace(row(kata, anonymous, message=message), visibility=kata.visibility[test.name])


def row(kata: Kata, test: TestResult, *, message: str) -> VisibleTest:
    """A test by its name."""
    return VisibleTest(
        group=kata.name,
        title=class_title_of_test(kata.name, test.name),
        visibility=kata.visibility.get(test.name, "hidden"),
        result=replace(test, message=printable(message), file=printable(test.file)),
    )


def redacted(test: TestResult) -> TestResult:
    """Without the way in which an answer was wrong, and where."""
    outcome = test.outcome if test.outcome in TOLD else "failed"
    return replace(test, outcome=outcome, diagnosis=None, explained_by=(), file="", line=0, cause="")


def timed(result: PerformanceResult) -> VisibleTest:
    """A workload; everybody may see it."""
    if result.workload not in course().workloads:
        raise ValueError(f"workload {one_line(result.workload)} has changed since; grade again")
    return VisibleTest(
        group=PERFORMANCE,
        title=result.workload.replace("_", " "),
        visibility="visible",
        result=TestResult(
            name=result.workload,
            outcome=result.outcome,
            score=result.score if result.counts else 0.0,
            max_score=result.max_score if result.counts else 0.0,
            message=printable(result.message),
            seconds=result.seconds,
        ),
        counts=result.counts,
        rehearsed=result.rehearsed,
    )


def unreadable(result: Result) -> Iterator[VisibleTest]:
    """Why what was handed in could not be read, as a test of which nobody earns the points."""
    if result.unreadable:
        why = one_line(result.unreadable)
        most = 0.0 if result.katas else result.max_score  # what was graded when it could be read counts still
        failed = TestResult("is_readable", "failed", 0.0, most, class_words("feedback.unreadable", why=why))
        yield VisibleTest(HAND_IN, why, "visible", failed)


def title_of(group: str) -> str:
    """What a group of rows is called."""
    if group in (PERFORMANCE, HAND_IN):
        return class_words(f"feedback.{group}")
    return class_title_of(course().katas[group])


def withheld(kata: Kata, test: TestResult) -> str:
    """What stands in the place of a message that may not be read."""
    if not test.message:
        return ""
    claim = test.message.partition("\n")[0]
    if kata.hidden_says == "claim":
        return f"{claim}\n  {class_words('feedback.rest_hidden')}"
    return class_words("feedback.hidden")
