"""Reference solution for memmap_tokens, in NumPy's own file format."""

from os import PathLike

import numpy as np


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    """Pass an open file to np.save so that it does not append a suffix."""
    with open(path, "wb") as file:
        np.save(file, tokens, allow_pickle=False)


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    """Memory-map the file in read-only mode."""
    return np.load(path, mmap_mode="r", allow_pickle=False)
