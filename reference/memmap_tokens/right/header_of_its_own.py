"""Writes a custom 8-byte header, and memory-maps the file in copy-on-write mode."""

import mmap
from os import PathLike
from pathlib import Path

import numpy as np


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    Path(path).write_bytes(tokens.dtype.str.encode().ljust(8) + tokens.tobytes())


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    with Path(path).open("rb") as file:
        dtype = np.dtype(file.read(8).decode().strip())
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return np.frombuffer(mapped, dtype=dtype, offset=8)
