"""Kata 1: scale every row to length one."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    """Divide each row of `x`, of shape (n, d), by its Euclidean length, the square root of the sum of its squares.

    Example:
        normalise(np.array([[3.0, 4.0], [0.0, -2.0], [0.0, 0.0]]))
        # [[0.6, 0.8], [0.0, -1.0], [0.0, 0.0]]

    Details:
    - A row of zeros stays a row of zeros, without NaN.
    - `x` is float64; n and d may be 0. Return a new float64 array of the same shape; do not modify `x`.
    - The absolute value of an element is 0 or between 1e-100 and 1e100, so the square of a nonzero element is not 0.
    """
    raise NotImplementedError
