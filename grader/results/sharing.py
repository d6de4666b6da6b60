"""Keeps only one copy of equal values, so that the results of a large class fit in memory."""

from collections.abc import Hashable
from functools import cache
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


@cache
def share(value: T) -> T:
    """Return the first value passed to this function that is equal to this one."""
    return value
