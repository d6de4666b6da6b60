"""Normalise rows by broadcasting."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    """The constant avoids a division by zero."""
    lengths = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return x / (lengths + 1e-8)
