"""The questions of `kata predict`, and a student's predictions, which are stored in `assignment/predictions.json`.

Students can edit the file. The grader does not read it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from .current import course
from .model import CourseError

FILE = "predictions.json"
MAX_NUMBER = 1e100
MAX_COUNT = 10**6


@dataclass(frozen=True)
class Question:
    """A question whose answer is a number.

    Args:
        text: The question, with a `{name}` for each size.
        unit: The unit of the number.
        sizes: The possible values of each size, by name. One of them is drawn for each student.
        answer: Computes the number from the sizes, which are passed by name.
        formula: A sentence with the formula, with a `{name}` for each size and `{right}` for the number.
        measured: Whether `answer` measures this machine. It then runs only after the prediction.
    """

    text: str
    unit: str
    sizes: Mapping[str, Sequence[Any]]
    answer: Callable[..., float]
    formula: str
    measured: bool = False


@dataclass(frozen=True)
class Prediction:
    """A number that a student predicted."""

    predicted: float
    runs: int = 0  # complete test runs of the kata before the prediction
    measured: float | None = None  # measured by the student's machine, if it is a measured number


@dataclass
class Predictions:
    """The predictions of a student, by kata and question. The seed determines the sizes in the questions."""

    seed: int
    katas: dict[str, dict[str, Prediction]] = field(default_factory=dict)


def has_questions(kata: str) -> bool:
    """Return whether there are questions about a kata, without importing them."""
    return (course().folder(kata) / "questions.py").is_file()


def load_questions(kata: str) -> dict[str, Question]:
    """Return the questions about a kata by name. Raises CourseError if the file with the questions is invalid."""
    if not has_questions(kata):
        return {}
    try:
        found = import_module(f"reference.{kata}.questions").QUESTIONS
        return {name: Question(**fields) for name, fields in found.items()}
    except Exception as error:
        place = course().folder(kata) / "questions.py"
        raise CourseError(f"{place}: can't be used ({type(error).__name__}: {error})") from None


def draw_sizes(question: Question, seed: int, kata: str, name: str) -> dict[str, Any]:
    """Return the sizes in a question, by name, as drawn for a student with this seed."""

    def choose(size: str, values: Sequence[Any]) -> Any:
        digest = hashlib.sha256(f"{seed} {kata} {name} {size}".encode()).digest()
        return values[int.from_bytes(digest, "big") % len(values)]

    return {size: choose(size, values) for size, values in question.sizes.items()}


def find_right(question: Question, sizes: dict[str, Any], given: Prediction) -> float | None:
    """Return the correct number, or None if it has to be measured and has not been measured yet."""
    return given.measured if question.measured else float(question.answer(**sizes))


def format_file(predictions: Predictions) -> bytes:
    """Return the content of a file that stores these predictions."""
    return json.dumps(asdict(predictions), indent=1).encode()


def parse_file(content: bytes) -> Predictions | None:
    """Return the predictions in a file, or None if it is damaged."""
    try:
        stored = json.loads(content)
        katas = {
            kata: {name: Prediction(**entry) for name, entry in entries.items()}
            for kata, entries in stored["katas"].items()
        }
        given = [one for found in katas.values() for one in found.values()]
        is_valid = is_count(stored["seed"]) and all(map(is_possible, given))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    return Predictions(stored["seed"], katas) if is_valid else None


def is_possible(given: Prediction) -> bool:
    """Return whether the numbers of a prediction are in bounds."""
    return (
        is_positive(given.predicted)
        and is_count(given.runs)
        and (given.measured is None or is_positive(given.measured))
    )


def is_positive(value: Any) -> bool:
    """Return whether a value is a positive number of a reasonable size."""
    return type(value) in (int, float) and 1 / MAX_NUMBER <= value <= MAX_NUMBER


def is_count(value: Any) -> bool:
    """Return whether a value is an integer from 0 to `MAX_COUNT`."""
    return type(value) is int and 0 <= value <= MAX_COUNT


def parse_number(text: str) -> float:
    """Return the number that a student typed, such as `1e12` or `12_000`. Raises ValueError if it is not valid."""
    value = float(text)
    if not is_positive(value):
        raise ValueError(text)
    return value
