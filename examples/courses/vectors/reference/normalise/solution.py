"""Normalisation by broadcasting."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    """Divide each row by its length, or by 1 if the length is 0."""
    lengths = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return x / np.where(lengths == 0, 1.0, lengths)
