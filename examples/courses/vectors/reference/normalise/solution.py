"""Broadcasts one length over each row."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    """A length of zero is taken for one."""
    lengths = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return x / np.where(lengths == 0, 1.0, lengths)
