"""NAME: fit a line through the origin by gradient descent."""


def NAME(xs: list[float], ys: list[float], rate: float, steps: int) -> float:
    """Return the slope w of the line y = w·x after `steps` steps of gradient descent, beginning with w = 0."""
    slope = 0.0
    for _ in range(steps):
        gradient = 0.0
        for x, y in zip(xs, ys, strict=True):
            gradient += 2 * (slope * x - y) * x
        slope -= rate * gradient / len(xs)
    return slope
