"""Repeats both sets and sums the squares with einsum, in reverse order."""

import numpy as np
from numpy import ndarray as Array


def pairwise_distances(a: Array, b: Array) -> Array:
    n, m = len(a), len(b)
    rows = (np.repeat(a, m, axis=0) - np.tile(b, (n, 1)))[:, ::-1]
    return np.einsum("ij,ij->i", rows, rows).reshape(n, m) ** 0.5
