"""Returns an array in column-major order."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    lengths = np.sqrt(np.einsum("ij,ij->i", x, x))
    with np.errstate(invalid="ignore"):
        y = x.T / lengths
    return np.where(lengths == 0, 0.0, y).T
