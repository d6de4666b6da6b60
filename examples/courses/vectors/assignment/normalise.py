"""Kata 1: every row to length one."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    """Divide each row of `x`, of shape (n, d), by its Euclidean length: the root of the sum of its squares.

    Example:
        normalise(np.array([[3.0, 4.0], [0.0, -2.0], [0.0, 0.0]]))
        # [[0.6, 0.8], [0.0, -1.0], [0.0, 0.0]]

    A row of zeros has no direction: it stays a row of zeros, without NaN.
    `x` is float64, and stays as it was; n and d may be 0. The answer is a new float64 array of the same shape. Every
    element other than 0 is between 1e-100 and 1e100 in size, so that its square is a float64, too.
    """
    raise NotImplementedError
