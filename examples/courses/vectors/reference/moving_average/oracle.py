"""The averages of all whole windows."""

import numpy as np
from numpy import ndarray as Array


def averages(x: Array, window: int) -> Array:
    """The mean of each window."""
    return np.array([x[i : i + window].mean() for i in range(len(x) - window + 1)])


def sizes(x: Array, window: int) -> Array:
    """What each mean may be off by, in roundings: the mean of the absolute values in its window."""
    return averages(abs(x), window)
