"""Replaces the student's `memmap_tokens` in katas that build on it, if the student's version fails its tests."""

from os import PathLike
from pathlib import Path

import numpy as np


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    """Save the tokens in the format of `np.save`, without adding a suffix to the file name."""
    with Path(path).open("wb") as file:
        np.lib.format.write_array(file, np.ascontiguousarray(tokens), allow_pickle=False)


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    """Map the file into memory, read-only."""
    return np.lib.format.open_memmap(path, mode="r")
