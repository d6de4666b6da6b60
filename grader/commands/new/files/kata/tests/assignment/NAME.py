"""NAME: test a function that computes medians."""

from collections.abc import Callable


def NAME(median: Callable[[list[float]], float]) -> bool:
    """Return whether `median` passes your tests: call it with lists of your choice, and check each result.

    `median(numbers)` should return the middle of the sorted numbers, or the mean of the two middle ones if their number
    is even. The list is never empty.

    Example:
        import statistics
        NAME(statistics.median)    # True
        NAME(max)                  # False
    """
    raise NotImplementedError
