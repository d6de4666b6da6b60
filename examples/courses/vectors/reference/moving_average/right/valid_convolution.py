"""Uses np.convolve for full windows."""

import numpy as np
from numpy import ndarray as Array


def moving_average(x: Array, window: int) -> Array:
    weights = np.full(window, 1.0) / window
    return np.convolve(x, weights, mode="valid") if len(x) >= window else x[:0].copy()
