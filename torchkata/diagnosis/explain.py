"""Turns what ended a test into its result: an outcome, and the few lines that a student reads."""

import re
from collections.abc import Iterator

from torchkata.compare.repro_code import as_typed
from torchkata.compare.show import short, show
from torchkata.i18n import format_label, words
from torchkata.i18n.notes import translate
from torchkata.result import BROKEN, UNUSABLE, Outcome, TestResult
from torchkata.seam.failures import BrokenTest, Crashed, Died, Inconclusive, NotStarted, Place, TimedOut, Unmet, Wrong
from torchkata.seam.reply import text_of
from torchkata.seam.student import Call

NOWHERE = Place()
PROBES_WORDS = re.compile(r"^return |\bassignment\.\w+\.")
UNDECIDED = "either the answer or the test"  # a note on an exception of a test: nobody knows whose mistake it is
MAX_ERROR = 100  # characters of an exception that a note quotes
MAX_LINE = 1000  # characters of a line, whatever it quotes


def explain(
    test: str,
    heading: str,
    error: BaseException,
    call: Call | None,
    again: str,
    diagnosis: str = "",
    looks_like: str = "",
) -> TestResult:
    """The result of a test that `error` ended; `again` is the command that runs it again.

    `diagnosis` is stored, `looks_like` says the same to the student.
    """
    error = first_cause(error)
    lines: list[tuple[str, str]] = []
    outcome: Outcome = "failed"
    cause = ""
    told_of = isinstance(error, BrokenTest) or not isinstance(error, (NotStarted, Inconclusive))
    if call is not None and told_of and not is_of_the_file(error):
        lines += input_lines(call, getattr(error, "asked", ""))
    match error:
        case Wrong():
            seen = translate(error.mistake) if error.mistake != diagnosis else ""  # the diagnosis is told above all
            lines += [("expected", error.expected), ("yours", error.yours), ("note", error.note or seen)]
            missing = words("crash.no_return") if is_all_missing(error, call) else ""
            lines += [("always", "" if diagnosis else error.relation), ("note", missing)]
            cause = f"{UNUSABLE}{error.note}" if is_unasked(error) else ""
        case Crashed(place=Place(file="", source=tried)) if tried:
            lines += [("tried", as_students_line(tried)), ("raised", one_line(error.error))]
            cause = f"{UNUSABLE}{error.error}"
        case Crashed():
            lines += [("crashed", one_line(error.error)), *place_lines(error.place)]
            outcome, cause = "crashed", f"{error.error} {error.place}" if error.place.file else error.error
        case NotStarted():
            key = "told.to_do" if error.place.line else "told.missing"
            lines += [("to_do", words(key, file=error.place.file, line=error.place.line))]
            outcome, cause = "not_started", error.place.file
        case TimedOut():
            lines += [("timed_out", error.how), *place_lines(error.place)]
            outcome, cause = "timed_out", f"{error.place}"
        case Died():
            lines += [("crashed", error.how)]
            outcome, cause = "crashed", error.how
        case BrokenTest():
            lines += [("input", error.given if call is None else ""), ("raised", one_line(error.error))]
            for one in error.lines:
                lines += place_lines(one)
            lines += [("note", words("told.broken"))]
            outcome, cause = "inconclusive", f"{BROKEN}{error.error} {error.lines[-1:]}"
        case Inconclusive():
            lines += [("machine", words("told.machine", error=error))]
            outcome, cause = "inconclusive", str(error)
        case _:
            lines += [("yours", show(call.answer) if call else ""), ("note", of_another_form(error))]
    body = [format_label(label and words(f"label.{label}"), short(text, MAX_LINE)) for label, text in lines if text]
    named = [f"  {words('label.looks_like')}{looks_like}"] if looks_like else []
    message = "\n".join([heading, *named, *body, f"  {words('label.again')}{again}"])
    place: Place = getattr(error, "place", NOWHERE)
    return TestResult(
        test, outcome, message=message, diagnosis=diagnosis or None, file=place.file, line=place.line, cause=cause
    )


def is_unasked(error: BaseException) -> bool:
    """Whether a test could not ask its question: what it needs is not so, or a probe can't use what was made."""
    return isinstance(error, Unmet) or (
        isinstance(error, Crashed) and not error.place.file and bool(error.place.source)
    )


def is_of_the_file(error: BaseException) -> bool:
    """Whether the file itself is at fault, whatever the input: it could not be imported, or lacks a name."""
    if not isinstance(error, Crashed):
        return False
    names = ("SyntaxError", "IndentationError", "ImportError", "ModuleNotFound")
    return error.error.startswith(names) or bool(error.place.file and not error.place.line)


def is_all_missing(error: Wrong, call: Call | None) -> bool:
    """Whether None is the whole answer, and something else was expected."""
    return call is not None and call.answer is None and error.yours.endswith("None")


def of_another_form(error: BaseException) -> str:
    """What a test says of an answer that it can't even compare; the words of an `assert`, where it has any."""
    if isinstance(error, AssertionError):
        return str(error).partition("\n")[0] or words("told.other_form")
    if UNDECIDED in getattr(error, "__notes__", ()):
        return words("told.other_form_or_broken", error=short(one_line(text_of(error)), MAX_ERROR))
    return words("told.other_form")


def first_cause(error: BaseException) -> BaseException:
    """The failure within a group: Hypothesis groups what a student's code answers differently the second time."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def place_lines(place: Place) -> Iterator[tuple[str, str]]:
    """The student's own line, if there is one."""
    if place.file:
        where = words("told.at", file=place.file, line=place.line) if place.line else place.file
        yield "at", where + (f":  {place.source}" if place.source else "")


def input_lines(call: Call, asked: str) -> Iterator[tuple[str, str]]:
    """What was done with the student's code, as it is typed; what was `asked` of it in place of all that was."""
    for place, line in enumerate(as_typed(call, asked)):
        yield "" if place else "input", line


def as_students_line(tried: str) -> str:
    """A probe's line as a student would type it."""
    return PROBES_WORDS.sub("", tried)


def one_line(text: str) -> str:
    """A library's message without its line breaks and tabs, which are spaces by now."""
    return " ".join(text.split())
