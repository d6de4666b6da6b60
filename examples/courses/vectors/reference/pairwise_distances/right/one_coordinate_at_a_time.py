"""Adds one coordinate at a time with np.hypot, without a three-axis array."""

import numpy as np
from numpy import ndarray as Array


def pairwise_distances(a: Array, b: Array) -> Array:
    answer = np.zeros((a.shape[0], b.shape[0]))
    for x, y in zip(a.T, b.T, strict=True):
        answer = np.hypot(answer, np.subtract.outer(x, y))
    return answer
