"""Kata 3: the average of what a window shows."""

import numpy as np
from numpy import ndarray as Array


def moving_average(x: Array, window: int) -> Array:
    """Average every `window` consecutive elements of `x`, of shape (n,).

    Element i of the answer is the mean of `x[i : i + window]`. Only whole windows count, so there are
    `n - window + 1` of them, and none where the window is longer than x.

    Example:
        moving_average(np.array([1.0, 2.0, 6.0, 7.0]), 3)    # [3.0, 5.0]
        moving_average(np.array([1.0, 2.0]), 3)              # []

    `x` is float64, n may be 0, and `window` is at least 1. An average is off by no more than a few roundings of the
    elements in its own window: a huge element elsewhere leaves no trace in it, as it would in a difference of two
    running sums.
    """
    raise NotImplementedError
