"""What NAME computes."""

from collections.abc import Sequence


def NAME(numbers: Sequence[int]) -> int:
    """Σ n²."""
    return sum(number * number for number in numbers)
