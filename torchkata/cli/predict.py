"""`kata predict`: asks students to predict numbers, then computes or measures these numbers and compares them."""

import secrets
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torchkata.course import Kata, course
from torchkata.course import predictions as stored
from torchkata.course.predictions import Prediction, Predictions, Question
from torchkata.files import write_atomically
from torchkata.i18n import _, find_texts
from torchkata.i18n.katas import title_of
from torchkata.pytest_plugin.history import load_state

from .terminal import UsageError, paint, print_wrapped, say

MAX_QUOTED = 40  # maximum number of characters of an invalid answer that the message quotes


def predict(kata: Kata, read: Callable[[str], str] | None = None) -> None:
    """Ask the unanswered questions about a kata, and show earlier answers together with the correct numbers.

    `read` prompts for a line; by default, it reads from stdin. Every prediction is stored before the correct number is
    computed. Raises UsageError if there are no questions, an answer is invalid or a measurement fails, CourseError if
    the questions can't be loaded, and OSError if the predictions can't be read or stored.
    """
    english = stored.load_questions(kata.name)
    translated: dict[str, Any] = {name: find_texts(kata.name, f"questions.{name}") for name in english}
    questions = {name: replace(one, **translated[name]) for name, one in english.items()}
    if not questions:
        others = ", ".join(name for name in course().katas if stored.has_questions(name))
        message = _("there are no questions about {kata}; there are some about {katas}", kata=kata.name, katas=others)
        raise UsageError(message)
    predictions, runs = load(), count_runs(kata)
    store(predictions)  # with the seed, so that skipped questions stay the same
    given = predictions.katas.setdefault(kata.name, {})
    print(paint(_("{kata} · {title}", kata=kata.name, title=title_of(kata)), "bold"))
    if len(given) < len(questions):
        message = _(
            "Write down each number before you compute it: a rough calculation in your head is "
            "enough. Press Enter to skip a question. The ratio is predicted / right. A good ratio is "
            "between 0.9 and 1.1 for a calculated number, and between 0.5 and 2 for a measured one."
        )
        print_wrapped(message)
        if runs:
            message = _(
                "You have already run the tests of this kata (runs: {runs}), so your predictions are marked as late.",
                runs=runs,
            )
            print_wrapped(message)
    for number, (name, question) in enumerate(questions.items(), start=1):
        sizes = stored.draw_sizes(question, predictions.seed, kata.name, name)
        print_wrapped(f"\n{number}. {question.text.format(**sizes)}", 3)
        if name not in given:
            predicted = ask(question.unit, read)
            if predicted is None:
                say("   skipped; the question stays the same next time")
                continue
            given[name] = Prediction(predicted, runs)
            store(predictions)
        right = stored.find_right(question, sizes, given[name])
        if right is None:
            right = measure(question, sizes)
            given[name] = replace(given[name], measured=right)
            store(predictions)
        show(question, given[name], right)
        print_wrapped("   " + question.formula.format(**sizes, right=f"{right:.4g}"), 3)
    print()
    message = _(
        "Your predictions are stored in {file}. Only you see them, and they earn no points."
        if given
        else "Nothing was predicted. To answer the same questions later: kata predict {kata}",
        kata=kata.name,
        file=f"assignment/{stored.FILE}",
    )
    print_wrapped(message)


def count_runs(kata: Kata) -> int:
    """Return the number of complete test runs of a kata, excluding runs of an empty stub."""
    run = load_state().runs.get(kata.name)
    return run.number if run else 0


def ask(unit: str, read: Callable[[str], str] | None) -> float | None:
    """Return the number that the student enters, or None for an empty line or the end of the input.

    After an invalid answer, ask again if the student is at a terminal or in a notebook. Otherwise, raise UsageError.
    """
    asks_again = read is not None or sys.stdin.isatty()
    while True:
        try:
            text = (read or read_line)(f"   {unit}: " if unit else "   = ").strip()
            return stored.parse_number(text) if text else None
        except (EOFError, NotImplementedError):  # the end of the input, or a notebook that can't ask
            print()
            return None
        except UnicodeDecodeError:
            text = "?"
        except ValueError:
            pass
        quoted = repr(text[:MAX_QUOTED])
        problem = _(
            "{text} is not a positive number; write it without a unit, such as 1e12, 3.2e9 or 12_000", text=quoted
        )
        if not asks_again:
            raise UsageError(problem)
        print_wrapped(f"   {problem}", 3)


def read_line(prompt: str) -> str:
    """Return a line from stdin. If stdin is not a terminal, print the line, so that the output shows the answer."""
    text = input(prompt)
    if not sys.stdin.isatty():
        print(text)
    return text


def measure(question: Question, sizes: dict[str, object]) -> float:
    """Measure the correct number on this machine. Raises UsageError if the measurement fails."""
    say("   measuring …")
    try:
        found = float(question.answer(**sizes))
        if stored.is_positive(found):
            return found
        why = f"{found:g} {question.unit}"
    except Exception as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
    raise UsageError(_("your prediction is stored, but this machine could not measure the number ({error})", error=why))


def show(question: Question, given: Prediction, right: float) -> None:
    """Print the correct number, the predicted number, and their ratio."""
    label = _("measured" if question.measured else "right")
    number = f"{right:.4g} {question.unit}".rstrip()
    late = _(" (predicted after {runs} test runs)", runs=given.runs) if given.runs else ""
    values = {"predicted": f"{given.predicted:.4g}", "ratio": f"{given.predicted / right:.3g}"}
    compared = _("predicted {predicted}, {label} {right}: ratio {ratio}", label=label, right=number, **values)
    print_wrapped(f"   {compared}{late}", 3)


def load() -> Predictions:
    """Return the stored predictions, or empty predictions with a new seed if there is no file.

    Raises UsageError if the file is not valid, or OSError if it can't be read.
    """
    path = course().assignment / stored.FILE
    if not path.exists():
        return Predictions(secrets.randbelow(stored.MAX_COUNT))
    found = stored.parse_file(path.read_bytes())
    if found is None:
        raise UsageError(_("{file} is damaged: remove or rename it", file=f"assignment/{stored.FILE}"))
    return found


def store(predictions: Predictions) -> None:
    """Store the predictions. Raises OSError if the file can't be written."""
    course().assignment.mkdir(exist_ok=True)
    write_atomically(course().assignment / stored.FILE, stored.format_file(predictions))
