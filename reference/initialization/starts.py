"""What weights are drawn from by mistake, in place of a normal that is cut: for the start of a layer."""

import math
from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray as Array

from reference.initialization.oracle import CUT, REACHED, Start, within

Weights = Float[Array, "count"]

NEVER = 8.0  # standard deviations: so far from 0 is none of half a million weights
ALWAYS = 4.1  # so far is one of them
STRAYS = 25  # of half a million weights are beyond three standard deviations twice in a row, at most


@dataclass(frozen=True)
class Mistaken(Start):
    """A start whose farthest weights tell it from others: they are about as far from 0 as they should be here."""

    def share(self, low: float, high: float) -> float:
        """Nothing lies beyond the cut; of what lies within three standard deviations."""
        low, high, most = (within(min(z, self.cut)) for z in (low, high, CUT))
        return (high - low) / most

    def is_too_far(self, weights: Weights) -> bool:
        """On either side, or not far enough."""
        below, above = -weights.min() / self.std, weights.max() / self.std
        return not (is_end(below, self.cut) and is_end(above, self.cut))

    def is_too_near(self, weights: Weights) -> bool:
        """The same."""
        return self.is_too_far(weights)


def is_end(farthest: float, cut: float) -> bool:
    """Whether a normal that is cut there comes so far on this side, and no farther; all in standard deviations."""
    return REACHED / CUT * min(cut, ALWAYS) <= farthest <= min(cut, NEVER) * (1 + 1e-6)


class Uniform(Mistaken):
    """As much everywhere between the two ends; `std` is a third of their distance from 0."""

    @property
    def variance(self) -> float:
        """A third of the square of the bound."""
        return self.bound**2 / 3

    def share(self, low: float, high: float) -> float:
        """In proportion."""
        return (high - low) / self.cut


class Clamped(Mistaken):
    """What is beyond is moved to the bound."""

    @property
    def variance(self) -> float:
        """With nine variances for what was moved."""
        inside = within(CUT)
        return super().variance * inside + self.bound**2 * (1 - inside)

    def share(self, low: float, high: float) -> float:
        """What was moved is at the far end."""
        return within(high) - within(low) + (1 - within(CUT)) * (high == CUT)


class Emptied(Mistaken):
    """What is beyond is set to 0."""

    @property
    def variance(self) -> float:
        """With none for what was set to 0."""
        return super().variance * within(CUT)

    def share(self, low: float, high: float) -> float:
        """What was beyond is at the near end."""
        return within(high) - within(low) + (1 - within(CUT)) * (low == 0)


class DrawnOnce(Mistaken):
    """What is beyond is drawn again, and may be beyond again."""

    def is_too_far(self, weights: Weights) -> bool:
        """More than a handful, or not far enough."""
        return self.is_too_near(weights) or int((abs(weights) > self.bound).sum()) > STRAYS

    def is_too_near(self, weights: Weights) -> bool:
        """As if all were drawn again."""
        return Start(self.std).is_too_near(weights)


class OneSided(Mistaken):
    """What is far below 0 stays."""

    @property
    def variance(self) -> float:
        """The mean square, `σ² · (1 − c · φ(c) / Φ(c))`."""
        density = math.exp(-(CUT**2) / 2) / math.sqrt(2 * math.pi)
        return self.std**2 * (1 - 2 * CUT * density / (1 + within(CUT)))

    def is_too_far(self, weights: Weights) -> bool:
        """As if there were no cut below."""
        below, above = -weights.min() / self.std, weights.max() / self.std
        return not (is_end(below, NEVER) and is_end(above, CUT))


class Positive(Mistaken):
    """No weight is below 0."""

    @property
    def positive(self) -> float:
        """All."""
        return 1.0

    @property
    def mean(self) -> float:
        """That of the sizes, by `2 (φ(0) − φ(c)) / (2Φ(c) − 1)`."""
        densities = (1 - math.exp(-(self.cut**2) / 2)) / math.sqrt(2 * math.pi)
        return 2 * self.std * densities / within(self.cut)
