"""Kata 2: the distances between two sets of points."""

import numpy as np
from numpy import ndarray as Array


def pairwise_distances(a: Array, b: Array) -> Array:
    """Return the Euclidean distance from each row of `a`, of shape (n, d), to each row of `b`, of shape (m, d).

    Element (i, j) of the result, of shape (n, m), is the square root of the sum over k of `(a[i, k] - b[j, k]) ** 2`.
    Broadcasting avoids loops: insert an axis into each array, so that the shapes are (n, 1, d) and (1, m, d).

    Example:
        pairwise_distances(np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([[0.0, 4.0]]))
        # [[4.0], [5.0]]

    Details:
    - All arrays are float64; n, m and d may be 0. If d is 0, all distances are 0.
    - The error is at most a few roundings of the distance, even for points close together and far from the origin. For
      such points, the expansion `|a|² + |b|² - 2 a·b` loses digits.
    """
    raise NotImplementedError
