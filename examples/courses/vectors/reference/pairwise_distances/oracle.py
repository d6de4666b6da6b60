"""Pairwise distances."""

import numpy as np
from numpy import ndarray as Array


def distances(a: Array, b: Array) -> Array:
    """Return the Euclidean length of every difference."""
    return np.linalg.norm(a[:, np.newaxis] - b, axis=-1)
