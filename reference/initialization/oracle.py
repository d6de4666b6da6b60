"""The normal distribution, cut on both sides, and what can be seen of weights that are drawn from it."""

import math
from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray as Array

CUT = 3.0  # in standard deviations
REACHED = 2.95  # by the farthest of half a million weights


@dataclass(frozen=True)
class Start:
    """A normal of mean 0 and standard deviation `std`, cut at `cut` standard deviations on both sides."""

    std: float
    cut: float = CUT

    @property
    def bound(self) -> float:
        """How far from 0 a weight may be."""
        return self.cut * self.std

    @property
    def reach(self) -> float:
        """How far from 0 the farthest of half a million weights is, at least."""
        return REACHED * self.std

    @property
    def mean(self) -> float:
        """As much is cut off on one side as on the other."""
        return 0.0

    @property
    def positive(self) -> float:
        """The share of weights above 0."""
        return 0.5

    @property
    def variance(self) -> float:
        """The variance after the cut: `σ² · (1 − 2c · φ(c) / (2Φ(c) − 1))`."""
        density = math.exp(-(self.cut**2) / 2) / math.sqrt(2 * math.pi)
        return self.std**2 * (1 - 2 * self.cut * density / within(self.cut))

    def share(self, low: float, high: float) -> float:
        """How much of it is from `low` to `high` standard deviations from 0, on both sides."""
        return (within(high) - within(low)) / within(self.cut)

    def is_too_far(self, weights: Float[Array, "count"]) -> bool:
        """Whether one of half a million weights is beyond the cut."""
        return not abs(weights).max() <= self.bound * (1 + 1e-6)

    def is_too_near(self, weights: Float[Array, "count"]) -> bool:
        """Whether none of half a million weights comes close to the cut."""
        return not abs(weights).max() >= self.reach


def within(z: float) -> float:
    """How much of a normal is no further than `z` standard deviations from its mean: `2Φ(z) − 1`."""
    return math.erf(z / math.sqrt(2))


def start(input_dim: int, output_dim: int) -> Start:  # noqa: ARG001  (whatever the output's size)
    """How the weights are drawn."""
    return Start(1 / math.sqrt(input_dim))
