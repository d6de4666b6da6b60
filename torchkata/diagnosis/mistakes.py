"""The known mistakes of a kata, and the oracle with a mistake in place of one of its functions."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from torchkata.compare.assertions import oracle_is_mistaken
from torchkata.course import cached_by_course, course
from torchkata.i18n import find_text


@dataclass(frozen=True)
class Mistake:
    """A known mistake: a function that computes the wrong result in place of one of the oracle's functions."""

    message: str  # follows "looks like: "
    right: Callable[..., Any]
    mistaken: Callable[..., Any]
    constants: Mapping[str, Sequence[float]] = field(default_factory=dict)  # the possible values of each
    values: Mapping[str, float] = field(default_factory=dict)  # the value of each, in an expanded mistake


def instead_of(
    right: Callable[..., Any], message: str, **constants: Sequence[float]
) -> Callable[[Callable[..., Any]], Mistake]:
    """Declare the decorated function as a known mistake in the oracle's function `right`.

    A failure shows the message if this is the only mistake of the kata that reproduces all of the student's answers.

    Args:
        right: The oracle's function. The decorated function has the same parameters and results.
        message: A clause about the student's code, shown after "looks like: ".
        **constants: Values to try for each additional parameter of the decorated function. The message can contain the
            value that fits: `{eps:g}`.

    Example:
        @instead_of(oracle.update, "1e-5 is added outside the square root")
        def outside(p, grad, lr): ...
    """
    return lambda mistaken: Mistake(message, right, mistaken, constants)


def expand_constants(mistake: Mistake) -> Iterator[Mistake]:
    """Yield the mistake with every combination of its constants."""
    for chosen in product(*mistake.constants.values()):
        values = dict(zip(mistake.constants, chosen, strict=True))
        message = mistake.message.format(**values) if values else mistake.message
        yield replace(mistake, message=message, mistaken=partial(mistake.mistaken, **values), values=values)


@dataclass(frozen=True)
class KnownMistake:
    """All mistakes with the same message, in one or more functions of the oracle."""

    message: str
    parts: tuple[Mistake, ...]


@cached_by_course
def load_named_mistakes(kata: str) -> dict[str, Mistake]:
    """Return the mistakes in `reference/<kata>/mistakes.py` by name; the file is optional."""
    if not (course().folder(kata) / "mistakes.py").is_file():
        return {}
    module = import_module(f"reference.{kata}.mistakes")
    return {name: value for name, value in vars(module).items() if isinstance(value, Mistake)}


@cached_by_course
def load_mistakes(kata: str) -> tuple[KnownMistake, ...]:
    """Return the mistakes of a kata, grouped by message."""
    together: dict[str, list[Mistake]] = {}
    for one in load_named_mistakes(kata).values():
        for part in expand_constants(one):
            together.setdefault(part.message, []).append(part)
    return tuple(KnownMistake(message, tuple(parts)) for message, parts in together.items())


def translate_mistake(kata: str, message: str) -> str:
    """Return a mistake's message, translated into the student's language."""
    for name, mistake in load_named_mistakes(kata).items():
        for one in expand_constants(mistake):
            if one.message == message and (text := find_text(kata, "looks_like", name)):
                return str(text).format(**one.values) if one.values else str(text)
    return message


@contextmanager
def patched_oracle(mistake: KnownMistake) -> Iterator[None]:
    """Make the oracle compute the mistake in this context; the mistake itself still calls the right oracle."""
    busy = [False]
    with pytest.MonkeyPatch.context() as oracle:
        for part in mistake.parts:
            oracle.setattr(sys.modules[part.right.__module__], part.right.__name__, make_patch(part, busy))
        before = oracle_is_mistaken.set(True)
        try:
            yield
        finally:
            oracle_is_mistaken.reset(before)


def make_patch(part: Mistake, busy: list[bool]) -> Callable[..., Any]:
    """Return the function to patch into the oracle; `busy` is set while any part of the mistake runs."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if busy[0]:
            return part.right(*args, **kwargs)
        busy[0] = True
        try:
            return part.mistaken(*args, **kwargs)
        finally:
            busy[0] = False

    return function
