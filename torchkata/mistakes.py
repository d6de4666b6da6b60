"""The known mistakes of a kata, and the oracle as somebody takes it who makes one of them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from reference.misconceptions import Misconception

from .languages import translated


@dataclass(frozen=True)
class Mistake:
    """What one sentence says: it may show in several functions of the oracle."""

    says: str
    parts: tuple[Misconception, ...]


@cache
def misconceptions(kata: str) -> dict[str, Misconception]:
    """All of a kata, by their names in `reference/misconceptions/<kata>.py`; none where there is no such file."""
    module = f"reference.misconceptions.{kata}"
    if find_spec(module) is None:
        return {}
    return {name: value for name, value in vars(import_module(module)).items() if isinstance(value, Misconception)}


@cache
def mistakes(kata: str) -> tuple[Mistake, ...]:
    """The misconceptions of a kata, those with the same sentence together."""
    together: dict[str, list[Misconception]] = {}
    for one in misconceptions(kata).values():
        together.setdefault(one.says, []).append(one)
    return tuple(Mistake(says, tuple(parts)) for says, parts in together.items())


def in_the_students_language(kata: str, says: str) -> str:
    """The sentence that names a mistake; several optimizers share some of theirs."""
    names = [name for name, misconception in misconceptions(kata).items() if misconception.says == says]
    return translated(says, *((*table, "looks_like", name) for name in names for table in (("katas", kata), ())))


@contextmanager
def made(mistake: Mistake) -> Iterator[None]:
    """While this holds, the oracle computes what the mistake does; to the mistake itself the oracle is right."""
    busy = [False]
    with pytest.MonkeyPatch.context() as oracle:
        for part in mistake.parts:
            oracle.setattr(sys.modules[part.right.__module__], part.right.__name__, stand_in(part, busy))
        yield


def stand_in(part: Misconception, busy: list[bool]) -> Callable[..., Any]:
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
