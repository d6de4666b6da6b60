"""Pairwise distances by broadcasting."""

import numpy as np
from numpy import ndarray as Array


def pairwise_distances(a: Array, b: Array) -> Array:
    """Compute the differences of all pairs, then their lengths."""
    differences = a[:, None, :] - b[None, :, :]
    return np.sqrt((differences**2).sum(axis=-1))
