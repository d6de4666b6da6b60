"""Mistakes in a start."""

import math

from reference.misconceptions import instead_of
from reference.oracle import initialization as oracle


@instead_of(
    oracle.bound, "nothing is cut off: ends of -3 and 3 would be the numbers themselves, not standard deviations"
)
def uncut(input_dim: int) -> float:
    """As in the lecture."""
    return math.inf


@instead_of(oracle.spread, "the standard deviation is 1 / input_dim, without the root")
def without_root(input_dim: int) -> float:
    """Too small by the root."""
    return 1 / input_dim


@instead_of(oracle.spread, "the standard deviation is 1, whatever the layer's size")
def standard(input_dim: int) -> float:
    """A plain randn."""
    return 1.0


@instead_of(oracle.spread, "the standard deviation is sqrt(2 / input_dim), as He chose it for what a ReLU follows")
def he(input_dim: int) -> float:
    """Twice the variance."""
    return math.sqrt(2 / input_dim)


@instead_of(oracle.variance, "the standard deviation is 1 / sqrt(input_dim) after the cut, or there is no cut")
def made_up_for(input_dim: int) -> float:
    """The standard deviation that was asked for, after the cut."""
    return 1 / input_dim
