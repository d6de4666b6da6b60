"""Three products in place of the differences."""

import numpy as np


def pairwise_distances(a, b):
    """A negative rest of the cancellation is cut off."""
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
    return np.sqrt(np.maximum(squares, 0))
