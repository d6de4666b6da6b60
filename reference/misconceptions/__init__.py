"""What a known mistake computes in place of the oracle, and the sentence that names it; one module for each kata.

When a student's values differ from the oracle's, they are compared with those of each mistake of the kata: where
exactly one agrees with all of them, that is what it looks like.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Misconception:
    """A function of the oracle as somebody takes it who makes this mistake."""

    says: str  # goes on after "looks like: "
    right: Callable[..., Any]
    mistaken: Callable[..., Any]


def instead_of(right: Callable[..., Any], says: str) -> Callable[[Callable[..., Any]], Misconception]:
    """Decorates what a mistake computes; `right` is the oracle's function, of the same arguments and results."""
    return lambda mistaken: Misconception(says, right, mistaken)
