"""Records the dtype in a second file."""

import json
from os import PathLike, fspath
from pathlib import Path

import numpy as np


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    tokens.tofile(path)
    Path(fspath(path) + ".json").write_text(json.dumps({"dtype": str(tokens.dtype)}))


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    dtype = json.loads(Path(fspath(path) + ".json").read_text())["dtype"]
    return np.memmap(path, dtype=dtype, mode="c")
