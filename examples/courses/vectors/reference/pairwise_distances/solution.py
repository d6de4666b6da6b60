"""Broadcasts every point of one set against every point of the other."""

import numpy as np
from numpy import ndarray as Array


def pairwise_distances(a: Array, b: Array) -> Array:
    """The differences are formed before anything is squared."""
    differences = a[:, None, :] - b[None, :, :]
    return np.sqrt((differences**2).sum(axis=-1))
