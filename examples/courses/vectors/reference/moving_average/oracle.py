"""Moving averages."""

import numpy as np
from numpy import ndarray as Array


def averages(x: Array, window: int) -> Array:
    """Return the mean of each full window."""
    return np.array([x[i : i + window].mean() for i in range(len(x) - window + 1)])


def sizes(x: Array, window: int) -> Array:
    """Return the scale of each mean's rounding error: the mean of the absolute values in its window."""
    return averages(abs(x), window)
