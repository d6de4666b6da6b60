"""Converts the exception that ended a test into a test result with the outcome and the message for the student."""

import re
from collections.abc import Iterator

from torchkata.compare.repro_code import render_call
from torchkata.compare.show import shorten, show
from torchkata.i18n import format_label, words
from torchkata.i18n.notes import translate
from torchkata.inside.reply import format_error
from torchkata.inside.source.differences import SETTINGS
from torchkata.result import BROKEN, MAX_LINE, UNUSABLE, Outcome, TestResult, clean_line
from torchkata.seam.failures import BrokenTest, Crashed, Died, Inconclusive, NotStarted, Place, TimedOut, Unmet, Wrong
from torchkata.seam.student import Call

PROBE_CODE = re.compile(r"^return |\bassignment\.\w+\.")
UNDECIDED = "either the answer or the test"  # part of the note about an exception of unknown cause
MAX_ERROR = 100  # maximum number of characters of an exception message quoted in a note


def explain(
    test: str,
    heading: str,
    error: BaseException,
    call: Call | None,
    again: str,
    diagnosis: str = "",
    looks_like: str = "",
) -> TestResult:
    """Return the result of a test that ended with `error`.

    Args:
        test: The name of the test.
        heading: The first line of the message.
        error: The exception.
        call: The last call of the student's code, if there was one.
        again: The command that runs the test again.
        diagnosis: The mistake in the student's code, in English, for the stored result.
        looks_like: The same mistake in the student's language, for the message.
    """
    error = unwrap_group(error)
    lines: list[tuple[str, str]] = []
    outcome: Outcome = "failed"
    cause = ""
    has_input = isinstance(error, BrokenTest) or not isinstance(error, (NotStarted, Inconclusive))
    if call is not None and has_input and not is_file_error(error):
        code = render_call(call, getattr(error, "asked", ""))
        lines += [("" if place else "input", line) for place, line in enumerate(code)]
    match error:
        case Wrong():
            seen = translate(error.mistake) if error.mistake != diagnosis else ""  # the diagnosis is already shown
            lines += [("expected", error.expected), ("yours", error.yours), ("note", error.note or seen)]
            lacks_return = call is not None and call.answer is None and error.yours.endswith("None")
            missing = words("crash.no_return") if lacks_return else ""
            lines += [("always", "" if diagnosis else error.relation), ("note", missing)]
            cause = f"{UNUSABLE}{error.note}" if is_untestable(error) else ""
        case Crashed(place=Place(file="", source=tried)) if tried:
            tried = "" if tried.startswith("raise ") else PROBE_CODE.sub("", tried)
            lines += [("tried", tried), ("raised", join_lines(error.error))]
            cause = f"{UNUSABLE}{error.error}"
        case Crashed():
            lines += [("crashed", join_lines(error.error)), *make_place_lines(error.place)]
            outcome, cause = "crashed", f"{error.error} {error.place}" if error.place.file else error.error
        case NotStarted():
            key = "message.to_do" if error.place.line else "message.missing"
            lines += [("to_do", words(key, file=error.place.file, line=error.place.line))]
            outcome, cause = "not_started", error.place.file
        case TimedOut():
            lines += [("timed_out", error.how), *make_place_lines(error.place)]
            outcome, cause = "timed_out", f"{error.place}"
        case Died():
            lines += [("crashed", error.how)]
            outcome, cause = "crashed", error.how
        case BrokenTest():
            lines += [("input", error.given if call is None else ""), ("raised", join_lines(error.error))]
            for one in error.lines:
                lines += make_place_lines(one)
            lines += [("note", words("message.broken"))]
            outcome, cause = "inconclusive", f"{BROKEN}{error.error} {error.lines[-1:]}"
        case Inconclusive():
            lines += [("machine", words("message.machine", error=error))]
            outcome, cause = "inconclusive", str(error)
        case _:
            lines += [("yours", show(call.answer) if call else ""), ("note", explain_form_error(error))]
    if call is not None and call.setting in SETTINGS and has_input:
        lines.append(("note", words("message.setting", call=call.setting)))
    body = [
        format_label(label and words(f"label.{label}"), clean_line(shorten(text, MAX_LINE)))
        for label, text in lines
        if text
    ]
    named = [f"  {words('label.looks_like')}{clean_line(looks_like)}"] if looks_like else []
    message = "\n".join([heading, *named, *body, f"  {words('label.again')}{again}"])
    place: Place = getattr(error, "place", Place())
    return TestResult(
        test, outcome, message=message, diagnosis=diagnosis or None, file=place.file, line=place.line, cause=cause
    )


def is_untestable(error: BaseException) -> bool:
    """Return whether the test ended because a precondition failed or a probe could not use a student's result."""
    return isinstance(error, Unmet) or (
        isinstance(error, Crashed) and not error.place.file and bool(error.place.source)
    )


def is_file_error(error: BaseException) -> bool:
    """Return whether the student's file fails for every input because it cannot be imported or lacks a name."""
    if not isinstance(error, Crashed):
        return False
    names = ("SyntaxError", "IndentationError", "ImportError", "ModuleNotFound")
    return error.error.startswith(names) or bool(error.place.file and not error.place.line)


def explain_form_error(error: BaseException) -> str:
    """Return a note about an answer that a test cannot compare. If a plain `assert` failed, return its message."""
    if isinstance(error, AssertionError):
        return str(error).partition("\n")[0] or words("message.other_form")
    if UNDECIDED in getattr(error, "__notes__", ()):
        return words("message.other_form_or_broken", error=shorten(join_lines(format_error(error)), MAX_ERROR))
    return words("message.other_form")


def unwrap_group(error: BaseException) -> BaseException:
    """Return the first exception of a group. Hypothesis raises such a group if a failure is not reproducible."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def make_place_lines(place: Place) -> Iterator[tuple[str, str]]:
    """Yield the line of the message that shows where the student's code failed, if the place is known."""
    if place.file:
        where = words("message.at", file=place.file, line=place.line) if place.line else place.file
        yield "at", where + (f":  {place.source}" if place.source else "")


def join_lines(text: str) -> str:
    """Collapse the whitespace in a library's message."""
    return " ".join(text.split())
