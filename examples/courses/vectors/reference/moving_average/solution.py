"""A moving average by summing shifted slices."""

import numpy as np
from numpy import ndarray as Array


def moving_average(x: Array, window: int) -> Array:
    """Sum one slice per position in the window, then divide."""
    count = max(len(x) - window + 1, 0)
    total = np.zeros(count)
    for k in range(window):
        total += x[k : k + count]
    return total / window
