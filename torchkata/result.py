"""How a test ended: one type from pytest's hook to the grader's `result.json`, and one table of all outcomes."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

Outcome: TypeAlias = Literal["passed", "failed", "crashed", "timed_out", "not_started", "inconclusive", "not_graded"]
Status: TypeAlias = Literal["done", "wrong", "crashed", "timed_out", "not_started", "inconclusive", "not_graded"]


@dataclass(frozen=True)
class Look:
    """What tells an outcome from the others; its words are `status.…` in `torchkata/i18n/`."""

    status: Status  # of a kata with a test that ended so
    letter: str  # in pytest's line of progress
    symbol: str
    colour: Literal["green", "red", "yellow", "grey"]


LOOKS: dict[Outcome, Look] = {  # the gravest first
    "inconclusive": Look("inconclusive", "?", "?", "yellow"),  # the fault of the machine or of the test
    "timed_out": Look("timed_out", "T", "…", "red"),
    "crashed": Look("crashed", "C", "!", "red"),
    "failed": Look("wrong", "W", "✗", "red"),
    "not_started": Look("not_started", "-", "–", "grey"),
    "not_graded": Look("not_graded", "n", "·", "grey"),  # it did not run
    "passed": Look("done", ".", "✓", "green"),
}
LOOK_OF: dict[Status, Look] = {look.status: look for look in LOOKS.values()}
FAILED: tuple[Outcome, ...] = ("failed", "crashed", "timed_out")  # an answer that is wrong, or none
UNCOUNTED: tuple[Outcome, ...] = ("inconclusive", "not_graded")  # no fault of the student's
UNUSABLE = (
    "unusable: "  # the cause of a test that could not ask its question begins so: a probe can't use what was made
)

BROKEN = "broken: "  # the cause of a test that fails whatever the code answers begins so


@dataclass(frozen=True)
class TestResult:
    """How one test ended."""

    __test__: ClassVar[bool] = False  # it is none itself, whatever pytest takes its name for

    name: str
    outcome: Outcome
    score: float = 0.0
    max_score: float = 0.0
    message: str = ""  # what a student reads
    diagnosis: str | None = None  # what it looks like: a known mistake, if it is just one, or what was seen
    seconds: float = 0.0
    file: str = ""  # where in the student's files it ended, if that is known
    line: int = 0
    cause: str = ""  # the same for two tests that stumble over the same line
    explained_by: tuple[str, ...] = ()  # the known mistakes under which the answers are right; one is a diagnosis


def get_status(outcomes: Collection[Outcome]) -> Status:
    """A kata's status: done when all passed, not started when nothing is, else the gravest that happened."""
    if not outcomes:
        return "not_graded"
    if set(outcomes) <= {"passed"}:
        return "done"
    if set(outcomes) <= {"not_started"}:
        return "not_started"
    look = next(look for outcome, look in LOOKS.items() if outcome in outcomes)
    return look.status if look.colour != "grey" else "wrong"


def find_gravest(statuses: Collection[Status]) -> Status:
    """Of several katas."""
    return next(status for status in LOOK_OF if status in statuses)
