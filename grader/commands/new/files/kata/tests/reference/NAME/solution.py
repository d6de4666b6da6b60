"""NAME: test a function that computes medians."""

from collections.abc import Callable


def NAME(median: Callable[[list[float]], float]) -> bool:
    """Return whether `median` passes your tests: call it with lists of your choice, and check each result."""
    cases = [
        ([5.0], 5.0),
        ([9.0, 1.0, 2.0], 2.0),
        ([9.0, 1.0, 2.0, 4.0], 3.0),
    ]
    return all(median(numbers) == expected for numbers, expected in cases)
