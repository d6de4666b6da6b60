"""Computes the two sums over the points only once."""


def NAME(xs: list[float], ys: list[float], rate: float, steps: int) -> float:
    squares = sum(x * x for x in xs) / len(xs)
    products = sum(x * y for x, y in zip(xs, ys, strict=True)) / len(xs)
    slope = 0.0
    for _ in range(steps):
        slope -= rate * 2 * (slope * squares - products)
    return slope
