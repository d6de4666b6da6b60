"""A batch has many right values; these are the rows it may hold."""

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array


def windows(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    """All windows whose last token still has a target after it: one for each start in `range(tokens - sequence)`."""
    return np.lib.stride_tricks.sliding_window_view(data[:-1], sequence_length)
