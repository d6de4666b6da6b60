"""Selects the parts of a result that a reader may see, according to the `visibility` in `kata.toml`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from grader.base.text import one_line, printable
from grader.results.result import KataResult, PerformanceResult, Result
from torchkata.course import Kata, Visibility, course
from torchkata.i18n import class_language, translate
from torchkata.i18n import translate_for_class as _
from torchkata.i18n.katas import class_title_of_test, title_of
from torchkata.result import EARNED, LOOKS, Outcome, TestResult

PERFORMANCE = "performance"
HAND_IN = "hand-in"
SHOWN_OUTCOMES = (
    "passed",
    "waived",
    "not_started",
    "inconclusive",
    "not_graded",
)  # other outcomes reveal how an answer is wrong


@dataclass(frozen=True)
class VisibleTest:
    """A test or workload as shown to a reader. All texts are printable."""

    group: str  # name of the kata, PERFORMANCE or HAND_IN
    title: str
    visibility: Visibility
    result: TestResult
    counts: bool = True  # False if no points can be earned because the test was not graded
    rehearsed: bool = False  # True if it was graded on a device for which it earns no points

    @property
    def points(self) -> str:
        """The points as text, such as `5 of 5 points`, or a note that this was a rehearsal."""
        if self.rehearsed:
            return _("a rehearsal without points")
        return _("{earned} of {most} points", earned=f"{self.result.score:g}", most=f"{self.result.max_score:g}")


def view_as_student(result: Result, *, platform_hides: bool) -> list[VisibleTest]:
    """Return the tests and workloads of a result, or a failed test if the submission could not be read.

    If `platform_hides` is True, the platform hides tests according to their visibility. Otherwise, the details of tests
    that are not visible are removed here. Raises ValueError for a test or workload that the course no longer contains.
    """
    tests = [row for kata in result.katas for row in view_kata(kata, platform_hides=platform_hides)]
    return [*tests, *map(view_workload, result.performance), *view_unreadable(result)]


def view_as_instructor(result: Result) -> list[VisibleTest]:
    """Return the tests and workloads of a result as in `view_as_student`, but with all details.

    Raises ValueError if the course no longer contains a test of the result.
    """
    katas = [(find_kata(kata), kata.tests) for kata in result.katas]
    tests = [make_row(kata, test, test.message) for kata, tests in katas for test in tests]
    return [*tests, *map(view_workload, result.performance), *view_unreadable(result)]


def find_kata(result: KataResult) -> Kata:
    """Return the kata from the course. Raises ValueError if the course no longer contains these tests."""
    kata = course().katas.get(result.kata)
    if kata is None or not {test.name for test in result.tests} <= kata.points.keys():
        raise ValueError(f"kata {one_line(result.kata)} has changed since this was graded; grade again")
    return kata


def view_kata(result: KataResult, *, platform_hides: bool) -> Iterator[VisibleTest]:
    """Yield the tests of a kata as students may see them."""
    kata = find_kata(result)
    for number, test in enumerate(result.tests, start=1):
        open_now = kata.visibility[test.name] == "visible"
        in_time = platform_hides and kata.visibility[test.name] != "hidden"
        if open_now or in_time or kata.hidden_says == "all":
            yield make_row(kata, test, test.message)
        elif kata.hidden_says == "claim" or platform_hides:
            yield make_row(kata, redact(test), redacted_message(kata, test))
        else:
            anonymous = replace(redact(test), name=f"hidden_test_{number}", seconds=0.0)
            row = make_row(kata, anonymous, redacted_message(kata, test))
            yield replace(row, visibility=kata.visibility[test.name])


def make_row(kata: Kata, test: TestResult, message: str) -> VisibleTest:
    """Return the row of a test with this message."""
    return VisibleTest(
        group=kata.name,
        title=class_title_of_test(kata.name, test.name),
        visibility=kata.visibility.get(test.name, "hidden"),
        result=replace(test, message=printable(message), file=printable(test.file)) if message or test.file else test,
    )


def redact(test: TestResult) -> TestResult:
    """Return a test without details about how and where the answer was wrong."""
    outcome = test.outcome if test.outcome in SHOWN_OUTCOMES else "failed"
    return replace(test, outcome=outcome, diagnosis=None, explained_by=(), file="", line=0, cause="")


def view_workload(result: PerformanceResult) -> VisibleTest:
    """Return the row of a workload, which is always visible."""
    if result.workload not in course().workloads:
        raise ValueError(f"workload {one_line(result.workload)} has changed since this was graded; grade again")
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


def view_unreadable(result: Result) -> Iterator[VisibleTest]:
    """Yield a failed test with the reason if the submission could not be read."""
    if result.unreadable:
        why = one_line(result.unreadable)
        most = 0.0 if result.katas else result.max_score  # points of an earlier, readable version still count
        failed = TestResult("is_readable", "failed", 0.0, most, _("This submission can't be graded: {why}", why=why))
        yield VisibleTest(HAND_IN, why, "visible", failed)


def group_title(group: str) -> str:
    """Return the title of a group of rows."""
    if group in (PERFORMANCE, HAND_IN):
        return _("Speed" if group == PERFORMANCE else "Hand-in")
    return title_of(course().katas[group], class_language())


def redacted_message(kata: Kata, test: TestResult) -> str:
    """Return the text shown in place of a hidden message."""
    if not test.message or test.outcome == "waived":
        return test.message
    claim = test.message.partition("\n")[0]
    if kata.hidden_says == "claim":
        return f"{claim}\n  " + _("The test's input and your result are hidden.")
    return _("This test is hidden.")


def make_title(test: str) -> str:
    """Return the name of a test with spaces between words."""
    return test.removeprefix("test_").replace("_", " ")


def outcome_text(outcome: Outcome) -> str:
    """Return the outcome of a test or workload in the language of the class."""
    if outcome in EARNED:
        return _("passed" if outcome == "passed" else "waived")
    return translate(LOOKS[outcome].word, class_language())
