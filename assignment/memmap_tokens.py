"""Memory: token files that are larger than memory."""

from os import PathLike

import numpy as np


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    """Write one row of token ids to the file `path`, so that `load_tokens` can map it.

    `tokens` is a one-dimensional array of uint8, uint16, int32 or int64, perhaps a slice with a step. Write the numbers
    as they are, in their dtype: 2 bytes each for uint16, beside a short header for what `load_tokens` has to know.
    What the name ends in makes no difference (`np.save` adds ".npy" to a name, but not to an open file), and a file
    that was there before is replaced.

    Example:
        save_tokens("tokens.bin", np.array([7, 50256, 8], dtype=np.uint16))     # 6 bytes of tokens, and a header
    """
    raise NotImplementedError


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    """Return the tokens that `save_tokens` wrote, as an array whose elements stay on disk until they are used.

    The 1.4e12 tokens that LLaMA was trained on take 2.8 TB. Let the system map the file (`np.memmap`, or `np.load` with
    a `mmap_mode`): it reads only those pages that an index touches. The path is all that you are told, perhaps in
    another process, so the dtype must be in the file.

    Example:
        tokens = load_tokens("tokens.bin")     # at once, however large the file
        tokens.dtype, tokens[1]                # np.uint16, 50256

    Nothing that is done to the array may change the file: map it read-only, or so that changes stay in memory.
    Left to you: the file's layout, a second file beside it, no tokens at all.
    """
    raise NotImplementedError
