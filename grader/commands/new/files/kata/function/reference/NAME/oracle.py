"""The oracle of NAME."""

from collections.abc import Sequence


def NAME(numbers: Sequence[int]) -> int:
    """Return Σ n²."""
    return sum(number * number for number in numbers)
