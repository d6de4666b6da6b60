"""What a stopwatch should say of products whose durations are known."""

from collections.abc import Sequence


def seconds_per_product(timed: Sequence[float], warm: Sequence[float]) -> tuple[float, float]:  # noqa: ARG001
    """Between the fastest and the slowest of those that are warm, of all that were timed."""
    return min(warm), max(warm)
