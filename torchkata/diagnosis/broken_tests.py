"""Decides whether the exception that ended a test is the instructor's mistake: whether it comes whatever is answered.

    no call was made before it        the answers have no part in it: the test is broken
    a strategy raised it              likewise
    the test's body raised it         the body runs again with answers that nobody may read: if it raises the same
                                      at the same line, the test is broken; so it is if it passes with the same
                                      answers as before

Where this can't be decided, the exception counts as a refusal of the student's answer. The grader knows more: a test
that the reference solution passes is not broken (`SOUND`).
"""

import linecache
import traceback
from pathlib import Path
from types import TracebackType

from hypothesis.errors import HypothesisException, InvalidArgument

from torchkata.compare.show import show
from torchkata.course import course, is_chosen
from torchkata.i18n import words
from torchkata.seam.failures import BrokenTest, Endless, Place
from torchkata.seam.reply import clean, format_error
from torchkata.seam.student import Call
from torchkata.seam.values import Plain, Unread

from .recording import Example, RecordedBody, ReplayingStudent

TRIES = 5  # of a test's body, which may be flaky


class UnreadStudent:
    """Answers every call with a value that can be compared and passed on, and not read."""

    def call(self, *_: object) -> Plain:
        """Answer, as `Student.call` does."""
        return Unread()


def find_broken_test(error: BaseException, body: RecordedBody, last_call: Call | None) -> BrokenTest | None:
    """Return what to raise in place of `error` if the test is broken, None if its cause may be the student's answer."""
    in_body = any(frame.f_code is RecordedBody.__call__.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))
    example = next(iter(body.kept()), None) if in_body else None
    given = format_input(example) if example else ""
    if last_call is None or (example and not example.answers):
        return BrokenTest(format_error(error), find_course_lines(error.__traceback__), given)
    if not in_body:
        by_a_strategy = not isinstance(error, HypothesisException) or isinstance(error, InvalidArgument)
        return BrokenTest(format_error(error), find_course_lines(error.__traceback__)) if by_a_strategy else None
    for _ in range(TRIES):
        if example and (raises_same_error(error, body, example) or passes_on_replay(body, example)):
            return BrokenTest(format_error(error), find_course_lines(error.__traceback__), given)
    return None


def passes_on_replay(body: RecordedBody, example: Example) -> bool:
    """Return whether the body passes with the answers that it failed with: it judges the same in two ways."""
    try:
        body.body(**example.given, student=ReplayingStudent(example.answers))
    except (Exception, SystemExit):
        return False
    return True


def raises_same_error(error: BaseException, body: RecordedBody, example: Example) -> bool:
    """Return whether the body raises the same error at the same line if nobody may read the student's answers."""
    try:
        body.body(**example.given, student=UnreadStudent())
    except (Exception, SystemExit) as again:
        return format_error(again) == format_error(error) and find_last_line(again) == find_last_line(error)
    return False


def find_last_line(error: BaseException) -> list[Place]:
    """Return the innermost line of the course's own files that an exception came through, if there is one."""
    return find_course_lines(error.__traceback__)[-1:]


def make_endless_error(error: Endless) -> BrokenTest:
    """Return what to raise in place of `error`, which says where the test was computing."""
    text = words("message.endless", seconds=f"{error.seconds:g}")
    return BrokenTest(text, find_course_lines(error.__traceback__))


def find_course_lines(trace: TracebackType | None) -> list[Place]:
    """Return the lines of the course's own files in a traceback from the test's body on, the innermost last."""
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
    """Return a line about an exception that a file of the course has raised or can't be read for, "" for any other."""
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


def format_input(example: Example) -> str:
    """Return an input as it is shown, argument by argument."""
    return ", ".join(f"{name} = {show(value)}" for name, value in example.given.items())
