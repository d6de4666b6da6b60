"""How a test can end, other than well.

AssertionError
└── Wrong          the values differ from what the claim says
    └── Unmet      what another test is about does not hold, so that this one can't ask its question
Exception
└── Crashed        the student's code raised
BaseException
└── AbortTest      Hypothesis must not search for a smaller input: it would only cost time
    ├── NotStarted     the stub still raises NotImplementedError
    ├── TimedOut       no answer within the limit
    │   └── Endless        the test itself takes too long
    ├── Died           the student's process ended without an answer, or answered nonsense
    └── Inconclusive   the machine's fault, never the student's
        └── BrokenTest     the instructor's mistake: the test fails whatever the code answers
"""

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from torchkata.i18n import words


class Wrong(AssertionError):
    """The values that came back are not what the claim demands."""

    def __init__(self, *, expected: str = "", yours: str = "", note: str = "", mistake: str = "") -> None:
        super().__init__(mistake or note or f"expected {expected}, got {yours}")
        self.expected = expected
        self.yours = yours
        self.note = note
        self.mistake = mistake  # what the student's code does, where the test has seen it do so
        self.relation = ""  # what holds in all answers that were seen, beside this one
        self.asked = ""  # the call that is judged, as it is typed, where the probe makes several


class Unmet(Wrong):
    """What a test needs is not so; another test is about that."""


@dataclass(frozen=True)
class Place:
    """A line of the student's own."""

    file: str = ""
    line: int = 0
    source: str = ""


class Crashed(Exception):
    """The student's code raised `error` at `place`."""

    def __init__(self, error: str, place: Place) -> None:
        super().__init__(error)
        self.error = error
        self.place = place


class AbortTest(BaseException):
    """Ends a test at once, without a search for a smaller input."""


class NotStarted(AbortTest):
    """`place` still raises `NotImplementedError`."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.file)
        self.place = place


class TimedOut(AbortTest):
    """The time was up; `how` says which, `place` where the code was, if that is known."""

    def __init__(self, how: str, place: Place | None = None) -> None:
        super().__init__(how)
        self.how = how
        self.place = place or Place()


class Died(AbortTest):
    """The process that ran the student's code ended, or stopped making sense; `how` says which."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class Inconclusive(AbortTest):
    """Something outside the student's code failed; a rerun may tell."""


class Endless(TimedOut):
    """The test itself computed for so many seconds, beside the calls of the student's code."""

    def __init__(self, seconds: float) -> None:
        super().__init__(words("timed_out.judging"))
        self.seconds = seconds


class BrokenTest(Inconclusive):
    """The test, its oracle or a strategy raised `error` at these lines of the course, whatever the code answers."""

    def __init__(self, error: str, lines: Sequence[Place], given: str = "") -> None:
        super().__init__(error)
        self.error = error
        self.lines = lines
        self.given = given  # the input, where the test made no call


def describe_exit(code: int) -> str:
    """What an exit code, below 0 for a signal, says to somebody who wrote a few lines of Python."""
    if code >= 0:
        return words("died.exited", code=code)
    if -code == signal.SIGKILL:
        return words("died.killed")
    name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
    return words("died.processor") if name == "SIGXCPU" else words("died.crashed", signal=name)
