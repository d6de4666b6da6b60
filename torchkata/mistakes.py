"""The known mistakes of a kata, and the oracle as somebody takes it who makes one of them."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any, Protocol, runtime_checkable

import pytest

from .compare import of_a_mistake
from .course import cached_by_course, course
from .languages import said_of


@runtime_checkable
class Mistaken(Protocol):
    """A function of the oracle as somebody takes it who makes a mistake: `reference/<kata>/mistakes.py` has them."""

    @property
    def message(self) -> str:
        """Goes on after "looks like: "."""

    @property
    def right(self) -> Callable[..., Any]:
        """The oracle's function."""

    @property
    def mistaken(self) -> Callable[..., Any]:
        """What stands in its place."""


@dataclass(frozen=True)
class Fitted:
    """A mistake with a value for each of its constants, which its message names."""

    message: str
    right: Callable[..., Any]
    mistaken: Callable[..., Any]
    values: Mapping[str, float]


def fitted(one: Mistaken) -> Iterator[Fitted]:
    """A mistake with each value that its constants may have; once, as it is, where it has none."""
    constants: Mapping[str, Sequence[float]] = getattr(one, "constants", {})
    for chosen in product(*constants.values()):
        values = dict(zip(constants, chosen, strict=True))
        message = one.message.format(**values) if values else one.message
        yield Fitted(message, one.right, partial(one.mistaken, **values), values)


@dataclass(frozen=True)
class Mistake:
    """What one sentence says: it may show in several functions of the oracle."""

    message: str
    parts: tuple[Mistaken, ...]


@cached_by_course
def named_mistakes(kata: str) -> dict[str, Mistaken]:
    """Those of a kata, by their names in `reference/<kata>/mistakes.py`; none where there is no such file."""
    if not (course().folder(kata) / "mistakes.py").is_file():
        return {}
    module = import_module(f"reference.{kata}.mistakes")
    return {name: value for name, value in vars(module).items() if isinstance(value, Mistaken)}


@cached_by_course
def mistakes(kata: str) -> tuple[Mistake, ...]:
    """The mistakes of a kata, those with the same sentence together."""
    together: dict[str, list[Mistaken]] = {}
    for one in named_mistakes(kata).values():
        for part in fitted(one):
            together.setdefault(part.message, []).append(part)
    return tuple(Mistake(message, tuple(parts)) for message, parts in together.items())


def in_the_students_language(kata: str, message: str) -> str:
    """The sentence that names a mistake; several katas may share some of theirs."""
    for name, mistake in named_mistakes(kata).items():
        for one in fitted(mistake):
            if one.message == message and (text := said_of(kata, "looks_like", name)):
                return str(text).format(**one.values) if one.values else str(text)
    return message


@contextmanager
def patched_oracle(mistake: Mistake) -> Iterator[None]:
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


def in_its_place(part: Mistaken, busy: list[bool]) -> Callable[..., Any]:
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
