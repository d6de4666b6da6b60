"""Rows of length one."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    """Divide each row by its length; rows of zeros stay zero."""
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(lengths > 0, lengths, 1.0)


def argument_after(x: Array) -> Array:
    """Return the argument's value after the call."""
    return x
