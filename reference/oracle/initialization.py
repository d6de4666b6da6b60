"""The normal distribution, cut on both sides."""

import math

CUT = 3.0  # in standard deviations


def spread(input_dim: int) -> float:
    """The standard deviation before the cut."""
    return 1 / math.sqrt(input_dim)


def bound(input_dim: int) -> float:
    """How far from 0 a weight may be."""
    return CUT * spread(input_dim)


def variance(input_dim: int) -> float:
    """The variance after the cut: `σ² · (1 − 2c · φ(c) / (2Φ(c) − 1))`."""
    density = math.exp(-(CUT**2) / 2) / math.sqrt(2 * math.pi)
    return spread(input_dim) ** 2 * (1 - 2 * CUT * density / within(CUT))


def within(z: float) -> float:
    """How much of a normal is no further than `z` standard deviations from its mean: `2Φ(z) − 1`."""
    return math.erf(z / math.sqrt(2))


def share(low: float, high: float) -> float:
    """How much of the cut normal is from `low` to `high` standard deviations from 0, on both sides."""
    return (within(high) - within(low)) / within(CUT)
