"""Decides whether a test that ended with an unexpected exception is broken, or whether an answer may be wrong.

A test is considered broken if at least one of the following shows that the exception does not depend on the student's
answers:

- The test made no call before the exception, or a strategy raised the exception.
- The test's body runs again with answers that it cannot read (`Unread`), and raises the same error at the same line.
- The test's body runs again with the recorded answers, and passes.

Otherwise, the exception is treated as a wrong answer. In the grader, a test that passes with the reference solution is
known not to be broken (`RunState.sound`).
"""

import linecache
import traceback
from pathlib import Path
from types import TracebackType

from hypothesis.errors import HypothesisException, InvalidArgument

from torchkata.compare.show import show
from torchkata.course import course, is_chosen
from torchkata.i18n import _
from torchkata.inside.reply import Probe, clean, format_error
from torchkata.inside.values import Plain, Unread
from torchkata.seam.failures import BrokenTest, Endless, Place
from torchkata.seam.student import Call, make_call

from .recording import Example, RecordedBody, ReplayingStudent

TRIES = 5  # how often to run a test's body, since it may be random


class UnreadStudent:
    """A stand-in for `Student` whose answers a test can compare or pass on, but not read."""

    def __init__(self, example: Example) -> None:
        self.memory = dict(example.memory)

    def call(self, probe: Probe | str, *args: object) -> Plain:
        """Return an `Unread` answer, if the student's code could be called with these arguments."""
        make_call(probe, args)
        return Unread()


def find_broken_test(error: BaseException, body: RecordedBody, last_call: Call | None) -> BrokenTest | None:
    """Return the exception to raise instead of `error` if the test is broken, or None if an answer may be wrong."""
    in_body = any(frame.f_code is RecordedBody.__call__.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))
    example = next(iter(body.kept()), None) if in_body else None
    given = ", ".join(f"{name} = {show(value)}" for name, value in example.given.items()) if example else ""
    broken = BrokenTest(format_error(error), find_course_lines(error.__traceback__), given)
    if last_call is None or (example and not example.answers):
        return broken
    if not in_body:
        by_a_strategy = not isinstance(error, HypothesisException) or isinstance(error, InvalidArgument)
        return broken if by_a_strategy else None
    if example is None:
        return None
    tries = (raises_same_error(error, body, example) or passes_on_replay(body, example) for _ in range(TRIES))
    return broken if any(tries) else None


def passes_on_replay(body: RecordedBody, example: Example) -> bool:
    """Return whether the body now passes with the same answers with which it failed, which makes its verdict random."""
    try:
        body.body(**example.given, student=ReplayingStudent(example))
    except (Exception, SystemExit):
        return False
    return True


def raises_same_error(error: BaseException, body: RecordedBody, example: Example) -> bool:
    """Return whether the body raises the same error at the same line if it cannot read the answers."""
    try:
        body.body(**example.given, student=UnreadStudent(example))
    except (Exception, SystemExit) as second:
        lines = [find_course_lines(one.__traceback__)[-1:] for one in (error, second)]
        return format_error(second) == format_error(error) and lines[0] == lines[1]
    return False


def make_endless_error(error: Endless) -> BrokenTest:
    """Return the exception to raise instead of `error`, with the line that the test was executing."""
    text = _(
        "the test itself was still running after {seconds} seconds, excluding the calls to your code",
        seconds=f"{error.seconds:g}",
    )
    return BrokenTest(text, find_course_lines(error.__traceback__))


def find_course_lines(trace: TracebackType | None) -> list[Place]:
    """Return the lines of a traceback that are in the course's files, starting with the test's body."""
    root, own = course().root, (course().tests, course().reference, course().root / "conftest.py")
    found: list[Place] = []
    for frame, line in traceback.walk_tb(trace):
        if frame.f_code is RecordedBody.__call__.__code__:
            found.clear()
        file = Path(frame.f_code.co_filename)
        if any(file.is_relative_to(one) for one in own):
            source = clean(linecache.getline(str(file), line))
            found.append(Place(file.relative_to(root).as_posix(), line, source))
    return found


def describe_course_error(error: BaseException) -> str:
    """Return a one-line description of an exception if a file of the course raised or caused it, otherwise ""."""
    if not is_chosen() or not isinstance(error, (Exception, SystemExit)):
        return ""
    root, lines = course().root, find_course_lines(error.__traceback__)
    named = getattr(error, "filename", None)
    if isinstance(error, (SyntaxError, OSError)) and isinstance(named, str) and Path(named).is_relative_to(root):
        if isinstance(error, SyntaxError):
            return f"{named}, line {error.lineno}: {format_error(error)}"
        return f"{named}: {error.strerror}"
    if lines:
        return f"{root / lines[-1].file}, line {lines[-1].line}: {clean(format_error(error))}"
    return ""
