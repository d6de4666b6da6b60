"""Kata 2: the distances between two sets of points."""

import numpy as np
from numpy import ndarray as Array


def pairwise_distances(a: Array, b: Array) -> Array:
    """Measure the Euclidean distance from each row of `a`, of shape (n, d), to each row of `b`, of shape (m, d).

    Element (i, j) of the answer, of shape (n, m), is the root of the sum over k of `(a[i, k] - b[j, k]) ** 2`.
    Broadcasting needs no loop: insert an axis into each array, so that (n, 1, d) meets (1, m, d).

    Example:
        pairwise_distances(np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([[0.0, 4.0]]))
        # [[4.0], [5.0]]

    All arrays are float64; n, m and d may be 0, and without coordinates all points coincide. The error stays within
    a few roundings of the distance itself, even of points close together and far from the origin: the expansion
    `|a|² + |b|² - 2 a·b` loses the digits that matter there.
    """
    raise NotImplementedError
