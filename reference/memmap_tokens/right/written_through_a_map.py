"""Writes the tokens through a memory map, and returns a plain array whose base is a memory map."""

from os import PathLike

import numpy as np
from numpy.lib.format import open_memmap


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    mapped = open_memmap(path, mode="w+", dtype=tokens.dtype, shape=tokens.shape)
    mapped[:] = tokens
    mapped.flush()


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    return np.asarray(open_memmap(path, mode="r"))
