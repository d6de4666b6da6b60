"""Kata 3: the moving average of a series."""

from numpy import ndarray as Array


def moving_average(x: Array, window: int) -> Array:
    """Return the mean of every `window` consecutive elements of `x`, of shape (n,).

    Element i of the result is the mean of `x[i : i + window]`. Only full windows count, so the result has
    `n - window + 1` elements, or none if the window is longer than x.

    Example:
        moving_average(np.array([1.0, 2.0, 6.0, 7.0]), 3)    # [3.0, 5.0]
        moving_average(np.array([1.0, 2.0]), 3)              # []

    Details:
    - `x` is float64, n may be 0, and `window` is at least 1. Return a float64 array.
    - A huge element does not affect the mean of a window that does not contain it. In a difference of running sums, it
      would.
    """
    raise NotImplementedError
