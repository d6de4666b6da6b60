"""A batch has many right values; these are the rows it may hold."""

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array


def starts(tokens: int, sequence_length: int) -> range:
    """Where a window may begin: its last token still has a target after it."""
    return range(tokens - sequence_length)


def windows(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    """All windows: one for each start."""
    return np.lib.stride_tricks.sliding_window_view(data, sequence_length)[list(starts(len(data), sequence_length))]
