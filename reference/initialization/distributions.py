"""Wrong distributions of initial weights, used by the mistakes."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.initialization.oracle import CUT, REACHED, TruncatedNormal, probability_within

Weights = Float[Array, "count"]

NEVER = 8.0  # standard deviations; no weight out of half a million exceeds this
ALWAYS = 4.1  # standard deviations; at least one weight out of half a million exceeds this
SPREAD = 0.01  # relative error of the mean square of half a million weights
GRID = 10001  # points for numerical integration
STRAYS = 25  # at most this many weights out of half a million exceed three standard deviations in two consecutive draws


@dataclass(frozen=True)
class Mistaken(TruncatedNormal):
    """A wrong distribution, recognized by its largest weights."""

    def hook_has_another_form(self) -> bool:
        """Return True."""
        return True

    def share(self, low: float, high: float) -> float:
        """Return the fraction of weights in this range, among the weights within three standard deviations."""
        low, high, most = (probability_within(min(z, self.cut)) for z in (low, high, CUT))
        return (high - low) / most

    def exceeds_bound(self, weights: Weights) -> bool:
        """Return whether the largest weights on either side do not fit this distribution."""
        below, above = -weights.min() / self.std, weights.max() / self.std
        return not (fits_end(below, self.cut) and fits_end(above, self.cut))

    def misses_bound(self, weights: Weights) -> bool:
        """Return whether the largest weights on either side or the mean square do not fit this distribution."""
        return self.exceeds_bound(weights) or not abs((weights**2).mean() / self.variance - 1) < SPREAD


def fits_end(farthest: float, cut: float) -> bool:
    """Return whether the largest weight fits a normal distribution truncated at `cut` (both in standard deviations)."""
    return REACHED / CUT * min(cut, ALWAYS) <= farthest <= min(cut, NEVER) * (1 + 1e-6)


class Uniform(Mistaken):
    """A uniform distribution between the bounds. `std` is a third of the bound."""

    @property
    def variance(self) -> float:
        """Variance of the uniform distribution."""
        return self.bound**2 / 3

    def share(self, low: float, high: float) -> float:
        """Return the fraction of weights in this range, which is proportional to its width."""
        return (high - low) / self.cut


class Clamped(Mistaken):
    """A normal distribution whose values beyond the bound are clamped to it."""

    @property
    def variance(self) -> float:
        """Variance, including the clamped weights."""
        inside = probability_within(CUT)
        return super().variance * inside + self.bound**2 * (1 - inside)

    def share(self, low: float, high: float) -> float:
        """Return the fraction of weights in this range, counting clamped weights as equal to the bound."""
        return probability_within(high) - probability_within(low) + (1 - probability_within(CUT)) * (high == CUT)


class Emptied(Mistaken):
    """A normal distribution whose values beyond the bound are set to 0."""

    @property
    def variance(self) -> float:
        """Variance, including the zeros."""
        return super().variance * probability_within(CUT)

    def share(self, low: float, high: float) -> float:
        """Return the fraction of weights in this range, counting weights beyond the bound as zeros."""
        return probability_within(high) - probability_within(low) + (1 - probability_within(CUT)) * (low == 0)


class DrawnOnce(Mistaken):
    """A normal distribution whose values beyond the bound are redrawn only once."""

    def exceeds_bound(self, weights: Weights) -> bool:
        """Return whether more than a few weights exceed the bound, or none is close to it."""
        return self.misses_bound(weights) or int((abs(weights) > self.bound).sum()) > STRAYS

    def misses_bound(self, weights: Weights) -> bool:
        """Return whether no weight is close to the bound, using the same test as for the correct distribution."""
        return TruncatedNormal(self.std).misses_bound(weights)


@dataclass(frozen=True)
class Between(Mistaken):
    """A normal distribution with its peak at `peak`, truncated `low` times `std` below 0 and `cut` times above 0."""

    low: float = CUT
    peak: float = 0.0

    def moment(self, power: int) -> float:
        """Return the mean of a power of the weights."""
        x = np.linspace(-min(self.low, NEVER) * self.std, min(self.cut, NEVER) * self.std, GRID)
        density = np.exp(-(((x - self.peak) / self.std) ** 2) / 2)
        return float(np.average(x**power, weights=density))

    @property
    def mean(self) -> float:
        """Mean of the weights."""
        return self.moment(1)

    @property
    def variance(self) -> float:
        """Mean square of the weights."""
        return self.moment(2)

    def exceeds_bound(self, weights: Weights) -> bool:
        """Return whether the smallest or the largest weight does not fit this distribution."""
        below, above = -weights.min() / self.std, weights.max() / self.std
        return not (fits_end(below, self.low) and fits_end(above, self.cut))


class Positive(Mistaken):
    """A distribution with only positive weights."""

    def hook_has_another_form(self) -> bool:
        """Return False, because the mean shows that there are no negative weights."""
        return False

    @property
    def positive(self) -> float:
        """Fraction of weights above 0."""
        return 1.0

    @property
    def mean(self) -> float:
        """Mean of the absolute values, `2 (φ(0) − φ(c)) / (2Φ(c) − 1)`."""
        densities = (1 - math.exp(-(self.cut**2) / 2)) / math.sqrt(2 * math.pi)
        return 2 * self.std * densities / probability_within(self.cut)
