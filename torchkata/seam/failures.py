"""The exceptions that end a test.

AssertionError
└── Wrong          a value differs from the expected value
    └── Unmet      a precondition, which another test checks, does not hold
Exception
└── Crashed        the student's code raised an exception
BaseException
└── AbortTest      ends the test immediately, so that Hypothesis does not shrink the input
    ├── NotStarted     the stub still raises NotImplementedError
    ├── TimedOut       no answer within the limit
    │   └── Endless        the test itself takes too long
    ├── Died           the student's process exited without an answer, or sent a malformed one
    └── Inconclusive   a fault of the machine, never the student's
        └── BrokenTest     a mistake in the course that makes the test fail for any answer
"""

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from torchkata.i18n import _
from torchkata.inside.text import Message


class Wrong(AssertionError):
    """Raised if a value is not equal to the expected value."""

    def __init__(self, *, expected: str = "", yours: str = "", note: str = "", mistake: Message = "") -> None:
        super().__init__(str(mistake) or note or f"expected {expected}, got {yours}")
        self.expected = expected
        self.yours = yours
        self.note = note
        self.mistake = mistake  # the mistake in the student's code, if the test can identify it
        self.relation = ""  # a pattern that holds for all recorded answers
        self.asked = ""  # the code of the call under test, if the probe makes several calls


class Unmet(Wrong):
    """Raised if a precondition, which is checked by another test, does not hold."""


@dataclass(frozen=True)
class Place:
    """A line in the student's files."""

    file: str = ""
    line: int = 0
    source: str = ""


NOWHERE = Place()


class Crashed(Exception):
    """Raised if the student's code raised an exception. Contains the exception's text and the line that raised it."""

    def __init__(self, error: str, place: Place) -> None:
        super().__init__(error)
        self.error = error
        self.place = place
        self.is_unmet = False  # whether a precondition, which another test checks, raised the exception


class AbortTest(BaseException):
    """Base class of the exceptions that end a test immediately, without shrinking the input.

    `how` is the reason that is shown to the student. `place` is the line of the student's code that was running, if
    known.
    """

    def __init__(self, how: str = "", place: Place = NOWHERE) -> None:
        super().__init__(how)
        self.how = how
        self.place = place


class NotStarted(AbortTest):
    """Raised if the stub still raises NotImplementedError at `place`, or if its file is missing."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.file, place)


class TimedOut(AbortTest):
    """Raised if a time limit is exceeded."""


class Died(AbortTest):
    """Raised if the process that runs the student's code exits unexpectedly."""


class Inconclusive(AbortTest):
    """Raised for a failure that is not caused by the student's code. Running the test again may succeed."""


class Endless(TimedOut):
    """Raised if a test takes too long, not counting the time that it spends in the student's code."""

    def __init__(self, seconds: float) -> None:
        super().__init__(_("checking the results of this test and shrinking its input took too long"))
        self.seconds = seconds


class BrokenTest(Inconclusive):
    """Raised if the test, its oracle or a strategy fails regardless of the answer.

    It lists the lines of the course that failed.
    """

    def __init__(self, error: str, lines: Sequence[Place], given: str = "") -> None:
        super().__init__(error)
        self.error = error
        self.lines = lines
        self.given = given  # the input, if the test did not call the student's code


def describe_exit(code: int) -> str:
    """Return a sentence that describes the exit code of a process. A negative code is the number of a signal."""
    if code >= 0:
        return _("your code exited Python (exit code {code}) before it returned a result", code=code)
    if -code == signal.SIGKILL:
        return _(
            "your code was killed by the system: it probably ran out of memory (or it closed its "
            "connection to the grader)"
        )
    name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
    return (
        _("your code exceeded its CPU time limit")
        if name == "SIGXCPU"
        else _("your code crashed in native code (signal {signal})", signal=name)
    )
