"""The oracle of NAME: which functions of tests/probes/NAME.py compute the median."""

RIGHT = ("sorts_first", "counts_smaller")
WRONG = ("keeps_the_order", "lower_middle", "mean")


def accepts(function: str) -> bool:
    """Return whether the function with this name computes the median."""
    return function in RIGHT
