"""Writes through a mapped file, too, and loads into a plain array with the map as its base."""

from os import PathLike

import numpy as np
from numpy.lib.format import open_memmap


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    mapped = open_memmap(path, mode="w+", dtype=tokens.dtype, shape=tokens.shape)
    mapped[:] = tokens
    mapped.flush()


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    return np.asarray(open_memmap(path, mode="r"))
