"""Wrong distributions of initial weights, used by the mistakes."""

import math
from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray as Array

from reference.initialization.oracle import CUT, REACHED, TruncatedNormal, probability_within

Weights = Float[Array, "count"]

NEVER = 8.0  # standard deviations; no weight out of half a million exceeds this
ALWAYS = 4.1  # standard deviations; at least one weight out of half a million exceeds this
STRAYS = 25  # at most this many weights out of half a million exceed three standard deviations in two consecutive draws


@dataclass(frozen=True)
class Mistaken(TruncatedNormal):
    """A wrong distribution, recognized by its largest weights."""

    def share(self, low: float, high: float) -> float:
        """Return the fraction of weights in this range, among the weights within three standard deviations."""
        low, high, most = (probability_within(min(z, self.cut)) for z in (low, high, CUT))
        return (high - low) / most

    def exceeds_bound(self, weights: Weights) -> bool:
        """Return whether the largest weights on either side do not fit this distribution."""
        below, above = -weights.min() / self.std, weights.max() / self.std
        return not (fits_end(below, self.cut) and fits_end(above, self.cut))

    def misses_bound(self, weights: Weights) -> bool:
        """Return whether the largest weights on either side do not fit this distribution."""
        return self.exceeds_bound(weights)


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


class OneSided(Mistaken):
    """A normal distribution whose values are redrawn only if they exceed the upper bound."""

    @property
    def variance(self) -> float:
        """Mean square, `σ² · (1 − c · φ(c) / Φ(c))`."""
        density = math.exp(-(CUT**2) / 2) / math.sqrt(2 * math.pi)
        return self.std**2 * (1 - 2 * CUT * density / (1 + probability_within(CUT)))

    def exceeds_bound(self, weights: Weights) -> bool:
        """Return False if the weights look truncated at the upper bound only, and True otherwise."""
        below, above = -weights.min() / self.std, weights.max() / self.std
        return not (fits_end(below, NEVER) and fits_end(above, CUT))


class Positive(Mistaken):
    """A distribution with only positive weights."""

    @property
    def positive(self) -> float:
        """Fraction of weights above 0."""
        return 1.0

    @property
    def mean(self) -> float:
        """Mean of the absolute values, `2 (φ(0) − φ(c)) / (2Φ(c) − 1)`."""
        densities = (1 - math.exp(-(self.cut**2) / 2)) / math.sqrt(2 * math.pi)
        return 2 * self.std * densities / probability_within(self.cut)
