"""Bounds for random counts that right code exceeds about once in a billion runs."""

import numpy as np

Z = 6.11  # two-sided normal quantile at p = 1e-9


MANY = 0.25  # of half a million float32 weights, one in fifty comes again by chance
NORMAL_OR_CUT = "3, that of a normal, or 2.83, where it is cut off at three standard deviations"


def repeated(values: np.ndarray) -> float:
    """The share of numbers that come again, with their sign or the other: of random ones hardly any."""
    return 1 - np.unique(abs(values)).size / values.size


def tails(fourth_moment: float) -> str:
    """What a fourth moment other than a normal's says of a distribution."""
    if fourth_moment > 3:
        return "the start has too many large weights for a normal"
    flat = "as in a uniform start" if 1.7 < fourth_moment < 1.9 else "as where it is cut off"
    return f"the start has too few large weights for a normal, {flat}"


def chi_square_range(degrees: int) -> tuple[float, float]:
    """Where a chi-square of so many degrees of freedom lies (Wilson and Hilferty's cube of a normal)."""
    spread = (2 / (9 * degrees)) ** 0.5
    low, high = (max(0.0, 1 - spread**2 + sign * Z * spread) ** 3 for sign in (-1, 1))
    return degrees * low, degrees * high
