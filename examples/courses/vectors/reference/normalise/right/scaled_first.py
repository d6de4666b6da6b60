"""Divides by the largest element first, so that squares cannot overflow."""

import numpy as np
from numpy import ndarray as Array


def normalise(x: Array) -> Array:
    largest = np.abs(x).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(x, largest, out=np.zeros_like(x), where=largest > 0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.divide(scaled, lengths, out=np.zeros_like(x), where=lengths > 0)
