"""What the course knows of each kata, one folder each, and how a known mistake is written down.

`reference/<kata>/mistakes.py` has a function for each known mistake: what it computes in place of the oracle. When a
student's values differ from the oracle's, they are compared with those of each mistake of the kata: where exactly one
agrees with all of them, that is what it looks like.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """A function of the oracle as somebody takes it who makes this mistake."""

    message: str  # goes on after "looks like: "
    right: Callable[..., Any]
    mistaken: Callable[..., Any]
    constants: Mapping[str, Sequence[float]] = field(default_factory=dict)  # the values that each may have


def instead_of(
    right: Callable[..., Any], message: str, **constants: Sequence[float]
) -> Callable[[Callable[..., Any]], Mistake]:
    """Decorates what a mistake computes; `right` is the oracle's function, of the same arguments and results.

    A constant is one more argument of the mistake's, by name: each of its values is tried, and the message names the
    one that fits: `{eps:g}`.
    """
    return lambda mistaken: Mistake(message, right, mistaken, constants)
