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
    - Elements other than 0 are between 1e-100 and 1e100 in size, so their squares are finite and not 0.
    """
    raise NotImplementedError
