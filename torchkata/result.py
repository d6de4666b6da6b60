"""The result of a test, passed from pytest's hooks to the grader's `result.json`, and the table of outcomes."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

Outcome: TypeAlias = Literal[
    "passed", "failed", "crashed", "timed_out", "not_started", "inconclusive", "not_graded", "waived"
]
Status: TypeAlias = Literal["done", "wrong", "crashed", "timed_out", "not_started", "inconclusive", "not_graded"]


@dataclass(frozen=True)
class Look:
    """The letter, symbol and color that represent an outcome. Its display name is the text `status.…`."""

    status: Status  # status of a kata that has a test with this outcome
    letter: str  # shown in pytest's progress line
    symbol: str
    color: Literal["green", "red", "yellow", "grey"]


LOOKS: dict[Outcome, Look] = {  # ordered from worst to best
    "inconclusive": Look(
        "inconclusive", "?", "?", "yellow"
    ),  # to be graded again, for example after a fault of the machine
    "timed_out": Look("timed_out", "T", "…", "red"),
    "crashed": Look("crashed", "C", "!", "red"),
    "failed": Look("wrong", "W", "✗", "red"),
    "not_started": Look("not_started", "-", "–", "grey"),
    "not_graded": Look("not_graded", "n", "·", "grey"),  # the test did not run
    "waived": Look("done", "w", "✓", "green"),  # the test is broken, and everybody gets its points
    "passed": Look("done", ".", "✓", "green"),
}
LOOK_OF: dict[Status, Look] = {look.status: look for look in LOOKS.values()}
EARNED: tuple[Outcome, ...] = ("passed", "waived")  # outcomes that earn the points of the test
FAILED: tuple[Outcome, ...] = ("failed", "crashed", "timed_out")  # the answer was wrong or missing
UNCOUNTED: tuple[Outcome, ...] = ("inconclusive", "not_graded")  # outcomes that are not the student's fault
UNUSABLE = "unusable: "  # prefix of the `cause` of a test whose precondition fails
BROKEN = "broken: "  # prefix of the `cause` of a test that fails for any answer


@dataclass(frozen=True)
class TestResult:
    """The result of a single test."""

    __test__: ClassVar[bool] = False  # despite its name, pytest must not collect it

    name: str
    outcome: Outcome
    score: float = 0.0
    max_score: float = 0.0
    message: str = ""  # message for the student
    diagnosis: str | None = None  # the mistake in the student's code, if known
    seconds: float = 0.0
    file: str = ""  # the student's file and line at which the test ended, if known
    line: int = 0
    cause: str = ""  # the same for all tests that fail at the same line
    explained_by: tuple[str, ...] = ()  # all known mistakes that produce the same answers


def get_status(outcomes: Collection[Outcome]) -> Status:
    """Return the status of a kata, given the outcomes of its tests.

    A kata is done if all tests passed, and not started if no test was started. Otherwise, the worst outcome decides. A
    waived test does not affect the status.
    """
    if not outcomes:
        return "not_graded"
    outcomes = {*outcomes} - {"waived"}
    if outcomes <= {"passed"}:
        return "done"
    if outcomes <= {"not_started"}:
        return "not_started"
    look = next(look for outcome, look in LOOKS.items() if outcome in outcomes)
    return look.status if look.color != "grey" else "wrong"


def find_gravest(statuses: Collection[Status]) -> Status:
    """Return the worst of the statuses of several katas."""
    return next(status for status in LOOK_OF if status in statuses)
