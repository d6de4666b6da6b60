"""The oracle of NAME."""

from collections.abc import Sequence


def NAME(xs: Sequence[float], ys: Sequence[float], rate: float, steps: int) -> float:
    """Return w after the steps w ← w - rate · mean(2 (w x - y) x)."""
    slope = 0.0
    for _ in range(steps):
        slopes = [2 * (slope * x - y) * x for x, y in zip(xs, ys, strict=True)]
        slope -= rate * sum(slopes) / len(slopes)
    return slope
