"""Bounds for random counts that right code exceeds about once in a billion runs."""

Z = 6.11  # two-sided normal quantile at p = 1e-9


def chi_square_range(degrees: int) -> tuple[float, float]:
    """Where a chi-square of so many degrees of freedom lies (Wilson and Hilferty's cube of a normal)."""
    spread = (2 / (9 * degrees)) ** 0.5
    low, high = (max(0.0, 1 - spread**2 + sign * Z * spread) ** 3 for sign in (-1, 1))
    return degrees * low, degrees * high
