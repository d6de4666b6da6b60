"""Token files in NumPy's own format, whose header names the dtype."""

from os import PathLike

import numpy as np


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    """Into an open file, so that its name stays as it is."""
    with open(path, "wb") as file:
        np.save(file, tokens, allow_pickle=False)


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    """Mapped read-only."""
    return np.load(path, mmap_mode="r", allow_pickle=False)
