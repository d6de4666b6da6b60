"""What a stopwatch should say of products whose durations are known."""

from collections.abc import Sequence


def seconds_per_product(durations: Sequence[float], timed: int) -> tuple[float, float]:
    """Between the fastest and the slowest of the last `timed` products, without the first, which warms up."""
    warm = durations[1:][-timed:]
    return min(warm), max(warm)
