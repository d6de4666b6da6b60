"""Writes the dtype after the tokens, and uses torch to memory-map the file."""

from os import PathLike
from pathlib import Path

import numpy as np
import torch


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    with Path(path).open("wb") as file:
        for part in np.array_split(tokens, 3):
            file.write(np.ascontiguousarray(part))
        file.write(tokens.dtype.name.rjust(16).encode())


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    size = Path(path).stat().st_size
    mapped = torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8).numpy()
    return mapped[:-16].view(mapped[-16:].tobytes().decode().strip())
