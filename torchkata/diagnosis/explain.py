"""Converts the exception that ended a test into a test result with the outcome and the message for the student."""

import re
from collections.abc import Iterator

from torchkata.compare.repro_code import render_call
from torchkata.compare.show import shorten, show
from torchkata.i18n import _, format_label, translate
from torchkata.inside.reply import format_error
from torchkata.inside.source.differences import SETTINGS
from torchkata.result import BROKEN, MAX_LINE, UNUSABLE, Outcome, TestResult, clean_line
from torchkata.seam.failures import BrokenTest, Crashed, Died, Inconclusive, NotStarted, Place, TimedOut, Unmet, Wrong
from torchkata.seam.student import Call

PROBE_CODE = re.compile(r"^return |\bassignment\.\w+\.")
UNDECIDED = "either the answer or the test"  # part of the note about an exception of unknown cause
MAX_ERROR = 100  # maximum number of characters of an exception message quoted in a note
MAX_EXPLAINED = 200  # maximum number of characters of the message of a crash that we explain ourselves


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
        lines += [("" if place else _("input"), line) for place, line in enumerate(code)]
    match error:
        case Wrong():
            seen = translate(error.mistake) if str(error.mistake) != diagnosis else ""  # the diagnosis is already shown
            lines += [(_("expected"), error.expected), (_("yours"), error.yours), (_("note"), error.note or seen)]
            lacks_return = call is not None and call.answer is None and error.yours.endswith("None")
            missing = _("nothing is returned: is a `return` missing?") if lacks_return and not diagnosis else ""
            lines += [(_("always"), "" if diagnosis else error.relation), (_("note"), missing)]
            cause = f"{UNUSABLE}{error.note}" if is_untestable(error) else error.relation
        case Crashed(place=Place(file="", source=tried)) if tried:
            if tried.startswith("raise "):  # a sentence of the probe's, which the shown input does not raise
                lines.append((_("note"), join_lines(error.error).partition(": ")[2]))
            else:
                lines += [(_("tried"), PROBE_CODE.sub("", tried)), (_("raised"), join_lines(error.error))]
            cause = f"{UNUSABLE}{error.error}"
        case Crashed():
            text = join_lines(error.error)
            text = shorten(text, MAX_EXPLAINED) if diagnosis else text
            lines += [(_("crashed"), text), *make_place_lines(error.place)]
            kind = error.error.partition(":")[0]
            outcome, cause = "crashed", f"{kind} {error.place}" if error.place.file else error.error
            cause = f"{UNUSABLE}{cause}" if error.is_unmet else cause
        case NotStarted():
            lines += [(_("to do"), describe_unwritten(error.place.file, error.place.line))]
            outcome, cause = "not_started", error.place.file
        case TimedOut():
            lines += [(_("timed out"), error.how), *make_place_lines(error.place)]
            outcome, cause = "timed_out", f"{error.place}"
        case Died():
            lines += [(_("crashed"), error.how)]
            outcome, cause = "crashed", error.how
        case BrokenTest():
            lines += [(_("input"), error.given if call is None else ""), (_("raised"), join_lines(error.error))]
            for one in error.lines:
                lines += make_place_lines(one)
            text = _("this test is broken, not your code: please tell your instructor (you lose no points)")
            lines += [(_("note"), text)]
            outcome, cause = "inconclusive", f"{BROKEN}{error.error} {error.lines[-1:]}"
        case Inconclusive():
            lines += [(_("machine"), _("{error}; this is not your fault, and you lose no points", error=error))]
            outcome, cause = "inconclusive", str(error)
        case _:
            note = "" if diagnosis else explain_form_error(error)
            lines += [(_("yours"), show(call.answer) if call else ""), (_("note"), note)]
    if call is not None and call.setting in SETTINGS and has_input:
        text = _(
            "the file calls {call} when it is imported, which also affects the tests: remove the call",
            call=call.setting,
        )
        lines.append((_("note"), text))
    body = [format_label(label, clean_line(shorten(text, MAX_LINE))) for label, text in lines if text]
    named = [f"  {_('looks like: ')}{clean_line(looks_like)}"] if looks_like else []
    message = "\n".join([heading, *named, *body, f"  {_('again: ')}{again}"])
    place: Place = getattr(error, "place", Place())
    return TestResult(
        test, outcome, message=message, diagnosis=diagnosis or None, file=place.file, line=place.line, cause=cause
    )


def describe_unwritten(file: str, line: int) -> str:
    """Return a line about a stub that is unchanged or, if the line is 0, about a missing file."""
    if line:
        return _("{file}, line {line}, still raises NotImplementedError", file=file, line=line)
    return _("{file} is missing", file=file)


def is_untestable(error: BaseException) -> bool:
    """Return whether the test ended because a precondition failed or a probe could not use a student's result."""
    if isinstance(error, Crashed):
        return error.is_unmet or (not error.place.file and bool(error.place.source))
    return isinstance(error, Unmet)


def is_file_error(error: BaseException) -> bool:
    """Return whether the student's file fails for every input because it cannot be imported or lacks a name."""
    if not isinstance(error, Crashed):
        return False
    names = ("SyntaxError", "IndentationError", "ImportError", "ModuleNotFound")
    return error.error.startswith(names) or bool(error.place.file and not error.place.line)


def explain_form_error(error: BaseException) -> str:
    """Return a note about an answer that a test cannot compare. If a plain `assert` failed, return its message."""
    if isinstance(error, AssertionError):
        return str(error).partition("\n")[0] or _("your result does not have the required form")
    if UNDECIDED in getattr(error, "__notes__", ()):
        return _(
            "your result does not have the required form; if you are sure that it does, the test is "
            "wrong (it raised {error}): please tell your instructor",
            error=shorten(join_lines(format_error(error)), MAX_ERROR),
        )
    return _("your result does not have the required form")


def unwrap_group(error: BaseException) -> BaseException:
    """Return the first exception of a group. Hypothesis raises such a group if a failure is not reproducible."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def make_place_lines(place: Place) -> Iterator[tuple[str, str]]:
    """Yield the line of the message that shows where the student's code failed, if the place is known."""
    if place.file:
        where = _("{file}, line {line}", file=place.file, line=place.line) if place.line else place.file
        yield _("at"), where + (f":  {place.source}" if place.source else "")


def join_lines(text: str) -> str:
    """Collapse the whitespace in a library's message."""
    return " ".join(text.split())
