"""Pairwise distances with matrix products."""

import numpy as np


def pairwise_distances(a, b):
    """Clip negative rounding errors at 0."""
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
    return np.sqrt(np.maximum(squares, 0))
