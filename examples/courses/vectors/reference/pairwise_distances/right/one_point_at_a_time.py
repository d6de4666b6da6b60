"""Loops over the pairs and uses math.dist."""

import math

import numpy as np
from numpy import ndarray as Array


def pairwise_distances(a: Array, b: Array) -> Array:
    answer = np.zeros((len(a), len(b)))
    for i, j in np.ndindex(answer.shape):
        answer[i, j] = math.dist(a[i], b[j])
    return answer
