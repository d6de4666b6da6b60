"""The known mistakes of a kata, and the oracle as somebody takes it who makes one of them."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from torchkata.compare.assertions import of_a_mistake
from torchkata.course import cached_by_course, course
from torchkata.i18n import find_text


@dataclass(frozen=True)
class Mistake:
    """A known mistake: the function that computes what the mistake yields in place of the oracle's function."""

    message: str  # follows "looks like: "
    right: Callable[..., Any]
    mistaken: Callable[..., Any]
    constants: Mapping[str, Sequence[float]] = field(default_factory=dict)  # the values that each may have


def instead_of(
    right: Callable[..., Any], message: str, **constants: Sequence[float]
) -> Callable[[Callable[..., Any]], Mistake]:
    """Declare the decorated function as a known mistake in place of the oracle's function `right`.

    The student's answers are compared with those of each mistake of the kata. If exactly one mistake agrees with all of
    them, the failure shows its message.

    Args:
        right: The oracle's function. The decorated function has the same parameters and results.
        message: What the student's code does, as a clause that follows "looks like: ".
        **constants: For each further parameter of the decorated function, the values to try. The message may name the
            one that fits: `{eps:g}`.

    Example:
        @instead_of(oracle.update, "1e-5 is added outside the square root")
        def outside(p, grad, lr): ...
    """
    return lambda mistaken: Mistake(message, right, mistaken, constants)


@dataclass(frozen=True)
class Fitted:
    """A mistake with a value for each of its constants, which its message names."""

    message: str
    right: Callable[..., Any]
    mistaken: Callable[..., Any]
    values: Mapping[str, float]


def fitted(one: Mistake) -> Iterator[Fitted]:
    """A mistake with each value that its constants may have; once, as it is, where it has none."""
    for chosen in product(*one.constants.values()):
        values = dict(zip(one.constants, chosen, strict=True))
        message = one.message.format(**values) if values else one.message
        yield Fitted(message, one.right, partial(one.mistaken, **values), values)


@dataclass(frozen=True)
class KnownMistake:
    """What one sentence says: it may show in several functions of the oracle."""

    message: str
    parts: tuple[Fitted, ...]


@cached_by_course
def named_mistakes(kata: str) -> dict[str, Mistake]:
    """Those of a kata, by their names in `reference/<kata>/mistakes.py`; none where there is no such file."""
    if not (course().folder(kata) / "mistakes.py").is_file():
        return {}
    module = import_module(f"reference.{kata}.mistakes")
    return {name: value for name, value in vars(module).items() if isinstance(value, Mistake)}


@cached_by_course
def mistakes(kata: str) -> tuple[KnownMistake, ...]:
    """The mistakes of a kata, those with the same sentence together."""
    together: dict[str, list[Fitted]] = {}
    for one in named_mistakes(kata).values():
        for part in fitted(one):
            together.setdefault(part.message, []).append(part)
    return tuple(KnownMistake(message, tuple(parts)) for message, parts in together.items())


def in_the_students_language(kata: str, message: str) -> str:
    """The sentence that names a mistake; several katas may share some of theirs."""
    for name, mistake in named_mistakes(kata).items():
        for one in fitted(mistake):
            if one.message == message and (text := find_text(kata, "looks_like", name)):
                return str(text).format(**one.values) if one.values else str(text)
    return message


@contextmanager
def patched_oracle(mistake: KnownMistake) -> Iterator[None]:
    """While this holds, the oracle computes what the mistake does; to the mistake itself the oracle is right."""
    busy = [False]
    with pytest.MonkeyPatch.context() as oracle:
        for part in mistake.parts:
            oracle.setattr(sys.modules[part.right.__module__], part.right.__name__, in_its_place(part, busy))
        before = of_a_mistake.set(True)
        try:
            yield
        finally:
            of_a_mistake.reset(before)


def in_its_place(part: Fitted, busy: list[bool]) -> Callable[..., Any]:
    """What the tests call in place of the oracle's function; `busy` while any part of the mistake computes."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if busy[0]:
            return part.right(*args, **kwargs)
        busy[0] = True
        try:
            return part.mistaken(*args, **kwargs)
        finally:
            busy[0] = False

    return function
