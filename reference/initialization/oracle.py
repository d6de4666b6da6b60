"""Oracle for initialization: the truncated normal distribution and its statistics."""

import math
from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray as Array

CUT = 3.0  # in standard deviations
REACHED = 2.95  # the largest of half a million weights is at least this many standard deviations


@dataclass(frozen=True)
class TruncatedNormal:
    """A normal distribution with mean 0 and the given `std`, truncated at `cut` standard deviations on both sides."""

    std: float
    cut: float = CUT

    @property
    def bound(self) -> float:
        """Maximum absolute value of a weight."""
        return self.cut * self.std

    @property
    def reach(self) -> float:
        """Lower bound on the largest absolute value among half a million weights."""
        return REACHED * self.std

    @property
    def mean(self) -> float:
        """Mean of the weights."""
        return 0.0

    @property
    def positive(self) -> float:
        """Fraction of weights above 0."""
        return 0.5

    @property
    def variance(self) -> float:
        """Variance after truncation: `σ² · (1 − 2c · φ(c) / (2Φ(c) − 1))`."""
        density = math.exp(-(self.cut**2) / 2) / math.sqrt(2 * math.pi)
        return self.std**2 * (1 - 2 * self.cut * density / probability_within(self.cut))

    def share(self, low: float, high: float) -> float:
        """Return the fraction of weights whose absolute value is between `low` and `high` standard deviations."""
        return (probability_within(high) - probability_within(low)) / probability_within(self.cut)

    def hook_has_another_form(self) -> bool:
        """Return whether this is a wrong distribution, which differs from the right one in more than its scale."""
        return False

    def exceeds_bound(self, weights: Float[Array, "count"]) -> bool:
        """Return whether any weight exceeds the bound."""
        return not abs(weights).max() <= self.bound * (1 + 1e-6)

    def misses_bound(self, weights: Float[Array, "count"]) -> bool:
        """Return whether none of half a million weights is close to the bound, relative to their root mean square."""
        return not abs(weights).max() >= self.reach * ((weights**2).mean() / self.variance) ** 0.5


def probability_within(z: float) -> float:
    """Return the probability that a normal variable is within `z` standard deviations of its mean: `2Φ(z) − 1`."""
    return math.erf(z / math.sqrt(2))


def distribution(input_dim: int, output_dim: int) -> TruncatedNormal:  # noqa: ARG001  (mistakes use it)
    """Return the distribution of the weights."""
    return TruncatedNormal(1 / math.sqrt(input_dim))
