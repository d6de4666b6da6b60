"""Turns what ended a test into its result: an outcome, and the few lines that a student reads."""

from collections.abc import Iterator

from .failures import Crashed, Died, Inconclusive, NotStarted, Place, TimedOut, Unmet, Wrong
from .languages import padded, words
from .library_errors import forgotten_return, note_on
from .result import UNUSABLE, Outcome, TestResult
from .show import MAX_WIDTH, elements, kind, short, show
from .student import Call
from .values import Plain

NOWHERE = Place()
MAX_LINE = 1000  # characters of a line, whatever it quotes
FEW = 6  # an input with no more elements is shown whole


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
    if call is not None and not isinstance(error, (NotStarted, Inconclusive)) and not is_of_the_file(error):
        lines += input_lines(call)
    match error:
        case Wrong():
            lines += [("expected", error.expected), ("yours", error.yours), ("note", error.note)]
            lines += [("always", error.relation), ("note", forgotten_return(error, call))]
            cause = f"{UNUSABLE}{error.note}" if isinstance(error, Unmet) else ""
        case Crashed(place=Place(file="", source=tried)) if tried:
            lines += [("tried", tried), ("raised", one_line(error.error)), ("note", note_on(error))]
            cause = f"{UNUSABLE}{tried}"
        case Crashed():
            lines += [("crashed", one_line(error.error)), *place_lines(error.place), ("note", note_on(error))]
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
        case Inconclusive():
            lines += [("machine", words("told.machine", error=error))]
            outcome, cause = "inconclusive", str(error)
        case _:
            lines += [("yours", show(call.answer) if call else ""), ("note", of_another_form(error))]
    told = [(label and words(f"label.{label}"), short(text, MAX_LINE)) for label, text in lines if text]
    body = [f"  {padded(label, 9)} {text}" for label, text in told]
    named = [f"  {words('label.looks_like')}{looks_like}"] if looks_like else []
    message = "\n".join([heading, *named, *body, f"  {words('label.again')}{again}"])
    place: Place = getattr(error, "place", NOWHERE)
    return TestResult(
        test, outcome, message=message, diagnosis=diagnosis or None, file=place.file, line=place.line, cause=cause
    )


def is_of_the_file(error: BaseException) -> bool:
    """Whether the file itself is at fault, whatever the input: it could not be imported, or lacks a name."""
    if not isinstance(error, Crashed):
        return False
    names = ("SyntaxError", "IndentationError", "ImportError", "ModuleNotFound")
    return error.error.startswith(names) or bool(error.place.file and not error.place.line)


def of_another_form(error: BaseException) -> str:
    """What a test says of an answer that it can't even compare; the words of an `assert`, where it has any."""
    said = str(error).partition("\n")[0] if isinstance(error, AssertionError) else ""
    return said or words("told.other_form")


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


def input_lines(call: Call) -> Iterator[tuple[str, str]]:
    """What the probe was given; on lines of their own when they are many."""
    shown = [f"{name}: {show_input(value, MAX_WIDTH - len(name) - 2)}" for name, value in call.inputs().items()]
    if sum(map(len, shown)) + 3 * (len(shown) - 1) <= MAX_WIDTH:
        shown = ["   ".join(shown)]
    yield from zip(["input", *[""] * len(shown)], shown, strict=False)


def show_input(value: Plain, width: int) -> str:
    """Tensors by their kind, and by their numbers when these are few."""
    return kind(value) if elements(value) > FEW else show(value, width=width)


def one_line(text: str) -> str:
    """A library's message without its line breaks and tabs, which are spaces by now."""
    return " ".join(text.split())
