"""The known mistakes of a kata. Each of them can be patched into the oracle in place of a correct function."""

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
from torchkata.i18n import find_text, translate
from torchkata.inside.text import Text

EITHER = Text("; or: ")  # joins the messages of two mistakes, only one of which was made


@dataclass(frozen=True)
class Mistake:
    """A known mistake: a function that replaces one of the oracle's functions and computes a wrong result."""

    message: str  # follows "looks like: "
    right: Callable[..., Any]
    mistaken: Callable[..., Any]
    constants: Mapping[str, Sequence[float] | Sequence[str]] = field(
        default_factory=dict
    )  # the possible values of each constant
    values: Mapping[str, object] = field(default_factory=dict)  # the value of each constant in an expanded mistake


def instead_of(
    right: Callable[..., Any], message: str, **constants: Sequence[float] | Sequence[str]
) -> Callable[[Callable[..., Any]], Mistake]:
    """Declare the decorated function as a known mistake that replaces the oracle's function `right`.

    The failure message shows `message` if this is the only known mistake of the kata that reproduces all of the
    student's answers.

    Args:
        right: The function of the oracle to replace. The decorated function has the same parameters and results.
        message: A clause that is true of all code with these answers. It is shown after "looks like: ".
        **constants: Values to try for additional parameters of the decorated function. The message can contain the
            value that fits: `{eps:g}`.

    Example:
        @instead_of(oracle.update, "1e-5 is added outside the square root")
        def outside(p, grad, lr): ...
    """
    return lambda mistaken: Mistake(message, right, mistaken, constants)


def expand_constants(mistake: Mistake) -> Iterator[Mistake]:
    """Yield the mistake once for every combination of values of its constants."""
    for chosen in product(*mistake.constants.values()):
        values = dict(zip(mistake.constants, chosen, strict=True))
        message = mistake.message.format(**values) if values else mistake.message
        yield replace(mistake, message=message, mistaken=partial(mistake.mistaken, **values), values=values)


@dataclass(frozen=True, eq=False)
class KnownMistake:
    """The mistakes that share a message. They replace one or more of the oracle's functions."""

    message: str
    parts: tuple[Mistake, ...]


@cached_by_course
def load_named_mistakes(kata: str) -> dict[str, Mistake]:
    """Return the mistakes in `reference/<kata>/mistakes.py` by name, or an empty dict if there is no such file.

    They include the mistakes in the modules that the file lists as `SHARED`.
    """
    if not (course().folder(kata) / "mistakes.py").is_file():
        return {}
    module = import_module(f"reference.{kata}.mistakes")
    modules = [*getattr(module, "SHARED", ()), module]
    return {name: value for each in modules for name, value in vars(each).items() if isinstance(value, Mistake)}


@cached_by_course
def load_mistakes(kata: str) -> tuple[KnownMistake, ...]:
    """Return the mistakes of a kata, grouped by message."""
    together: dict[str, list[Mistake]] = {}
    for one in load_named_mistakes(kata).values():
        for part in expand_constants(one):
            together.setdefault(part.message, []).append(part)
    return tuple(KnownMistake(message, tuple(parts)) for message, parts in together.items())


def name_mistake(kata: str, messages: Sequence[str]) -> str:
    """Return the message if there is only one, both joined if they concern the same oracle function, or else ""."""
    if len(messages) == 2:
        parts = [part for known in load_mistakes(kata) for part in known.parts if known.message in messages]
        return str(EITHER).join(messages) if len({part.right for part in parts}) == 1 else ""
    return messages[0] if len(messages) == 1 else ""


def begin_raised(message: str) -> str:
    """Return the beginning of the line about the error that a mistake's variant raised, for `grader certify`."""
    return f"the variant for “{message}” raised "


def translate_mistake(kata: str, message: str) -> str:
    """Return the message of one or two mistakes, translated into the student's language."""
    if str(EITHER) in message:
        return translate(EITHER).join(translate_mistake(kata, one) for one in message.split(str(EITHER)))
    for name, mistake in load_named_mistakes(kata).items():
        for one in expand_constants(mistake):
            if one.message == message and (text := find_text(kata, f"looks_like.{name}")):
                return text.format(**one.values) if one.values else text
    return message


@contextmanager
def patched_oracle(mistake: KnownMistake) -> Iterator[None]:
    """Patch a mistake into the oracle within this context. While the mistake runs, its patches are inactive."""
    busy = [False]
    with pytest.MonkeyPatch.context() as oracle:
        for part in mistake.parts:
            module, name = sys.modules[part.right.__module__], part.right.__name__
            oracle.setattr(module, name, make_patch(part.mistaken, getattr(module, name), busy))
        before = oracle_is_mistaken.set(True)
        try:
            yield
        finally:
            oracle_is_mistaken.reset(before)


def make_patch(mistaken: Callable[..., Any], inner: Callable[..., Any], busy: list[bool]) -> Callable[..., Any]:
    """Return a function that calls `mistaken`, or `inner` if a part of the mistake is already running (`busy`)."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if busy[0]:
            return inner(*args, **kwargs)
        busy[0] = True
        try:
            return mistaken(*args, **kwargs)
        finally:
            busy[0] = False

    return function
