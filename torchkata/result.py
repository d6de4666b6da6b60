"""The result of a test, passed from pytest's hooks to the grader's `result.json`, and the table of outcomes."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from torchkata.inside.text import Text

Outcome: TypeAlias = Literal[
    "passed", "failed", "crashed", "timed_out", "not_started", "inconclusive", "not_graded", "waived"
]
Status: TypeAlias = Literal["done", "wrong", "crashed", "timed_out", "not_started", "inconclusive", "not_graded"]


@dataclass(frozen=True)
class Look:
    """The letter, symbol and color that represent an outcome."""

    status: Status  # status of a kata that has a test with this outcome
    word: Text  # the name of the status
    letter: str  # shown in pytest's progress line
    symbol: str
    color: Literal["green", "red", "yellow", "grey"]


LOOKS: dict[Outcome, Look] = {  # ordered from worst to best
    "inconclusive": Look("inconclusive", Text("inconclusive"), "?", "?", "yellow"),  # to be graded again
    "timed_out": Look("timed_out", Text("timed out"), "T", "…", "red"),
    "crashed": Look("crashed", Text("crashed"), "C", "!", "red"),
    "failed": Look("wrong", Text("wrong"), "W", "✗", "red"),
    "not_started": Look("not_started", Text("not started"), "-", "–", "grey"),
    "not_graded": Look("not_graded", Text("not run"), "n", "·", "grey"),  # the test did not run
    "waived": Look("done", Text("done"), "w", "✓", "green"),  # the test is broken, and everybody gets its points
    "passed": Look("done", Text("done"), ".", "✓", "green"),
}
LOOK_OF: dict[Status, Look] = {look.status: look for look in LOOKS.values()}
EARNED: tuple[Outcome, ...] = ("passed", "waived")  # outcomes that earn the points of the test
FAILED: tuple[Outcome, ...] = ("failed", "crashed", "timed_out")  # the answer was wrong or missing
UNCOUNTED: tuple[Outcome, ...] = ("inconclusive", "not_graded")  # outcomes that are not the student's fault
UNUSABLE = "unusable: "  # prefix of the `cause` of a test whose precondition fails
BROKEN = "broken: "  # prefix of the `cause` of a test that fails for any answer
MAX_LINE = 1000  # maximum number of characters of a line

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except newline and tab
HALVES = r"\ud800-\udfff"  # surrogates, which represent bytes of a file name that are not UTF-8
NO_CHARACTERS = "".join(chr(plane | last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
HARMFUL = re.compile(f"[{CONTROLS}{HALVES}{NO_CHARACTERS}]")
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # text direction marks
SHOWN = {ord(mark): f"<U+{ord(mark):04X}>" for mark in TURNING} | {0x2028: "\n", 0x2029: "\n"}
MOST = 32 * 2**10  # maximum number of characters that are shown of a text


@dataclass(frozen=True)
class TestResult:
    """The result of a single test.

    Its texts may contain text of the student's, such as the name of a parameter. They are cleaned and bounded here, so
    that whoever reads a result, also in another program, gets printable lines of limited length.
    """

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

    def __post_init__(self) -> None:
        explained_by = tuple(map(clean_line, self.explained_by))
        diagnosis = None if self.diagnosis is None else clean_line(self.diagnosis)
        cleaned = {"message": printable(self.message), "diagnosis": diagnosis, "explained_by": explained_by}
        for name, text in (cleaned | {"file": clean_line(self.file), "cause": clean_line(self.cause)}).items():
            object.__setattr__(self, name, text)


def printable(text: str, most: int = MOST) -> str:
    """Remove control characters and characters forbidden in XML, and truncate the text to `most` characters.

    Characters that change the text direction are replaced by their code points.
    """
    if len(text) <= most and text.isprintable():
        return text
    shown = HARMFUL.sub("", text[:most]).translate(SHOWN)
    return shown if len(text) <= most and len(shown) <= most else f"{shown[: most - 1]}…"


def clean_line(text: str) -> str:
    """Return printable text as one line of at most `MAX_LINE` characters."""
    return printable(text, MAX_LINE).replace("\n", " ").replace("\t", " ")


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
