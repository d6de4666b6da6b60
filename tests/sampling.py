"""Bounds on random statistics. Correct code exceeds a bound about once in a billion runs."""

from statistics import NormalDist

import numpy as np

from torchkata import Text

Z = 6.11  # two-sided normal quantile at p = 1e-9
MANY = 0.25  # about one in fifty of half a million float32 weights repeats by chance
NORMAL_OR_CUT = Text("3 for a normal, or 2.83 if it is truncated at three standard deviations")


def repeated_share(values: np.ndarray) -> float:
    """Return the fraction of numbers that duplicate another one, ignoring the sign."""
    return 1 - np.unique(abs(values)).size / values.size


def describe_tails(kurtosis: float) -> Text:
    """Describe how the tails of a distribution with this kurtosis differ from those of a normal distribution."""
    if kurtosis > 3:
        return Text("too many initial weights are large for a normal")
    flat = Text("as if uniform") if 1.7 < kurtosis < 1.9 else Text("as if truncated")
    return Text("too few initial weights are large for a normal, {flat}", flat=flat)


def describe_cut(values: np.ndarray) -> Text | str:
    """Say that normal numbers, whose standard deviation should be 1, are truncated before 3, or return "" otherwise."""
    cut = float(abs(values).max(initial=0.0))
    inside = 2 * NormalDist().cdf(cut) - 1
    variance = 1 - 2 * cut * NormalDist().pdf(cut) / inside if inside else 0.0
    if not 1 <= cut < 2.9 or abs(values.var() / variance - 1) > Z * (2 / values.size) ** 0.5:
        return ""
    cuts = {"cut": f"{cut:.2g}", "share": f"{1 - variance**0.5:.0%}"}
    return Text(
        "the initial weights are truncated at {cut} standard deviations, which makes their standard deviation {share} "
        "smaller",
        **cuts,
    )


def chi_square_range(degrees: int, looks: int = 1) -> tuple[float, float]:
    """Return the range of a chi-square statistic with the given degrees of freedom (Wilson-Hilferty approximation).

    If the data is examined in several ways (`looks`), at least one of them exceeds its range once in a billion runs.
    """
    z = -NormalDist().inv_cdf(0.5e-9 / looks)
    spread = (2 / (9 * degrees)) ** 0.5
    low, high = (max(0.0, 1 - spread**2 + sign * z * spread) ** 3 for sign in (-1, 1))
    return degrees * low, degrees * high
