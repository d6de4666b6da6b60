"""Token files that are larger than memory."""

from os import PathLike

import numpy as np


def save_tokens(path: str | PathLike[str], tokens: np.ndarray) -> None:
    """Write a one-dimensional array of token ids to `path`, in a format that `load_tokens` can map.

    `tokens` has dtype uint8, uint16, int32 or int64.

    Example:
        save_tokens("tokens.bin", np.array([7, 50256, 8], dtype=np.uint16))     # 6 bytes of tokens, and a header

    Details:
    - Store the tokens in their own dtype, with a header of at most 4096 bytes.
    - `tokens` may be a slice with a step.
    - Write to exactly `path`, regardless of its suffix. `np.save` appends ".npy" to a path, but not to an open file.
    - If the file already exists, overwrite it. Tokens at other paths, such as "tokens.val" or
      "tokens.bin.npy", must remain loadable.
    """
    raise NotImplementedError


def load_tokens(path: str | PathLike[str]) -> np.ndarray:
    """Return the tokens that `save_tokens` wrote, as an array whose elements are read from disk only on access.

    LLaMA's 1.4e12 training tokens take 2.8 TB. Therefore, map the file into memory (for example with `np.memmap`, or
    with `np.load` and `mmap_mode`), so that the operating system reads only the pages around the elements that you
    access.

    Example:
        tokens = load_tokens("tokens.bin")     # returns immediately, even for a large file
        tokens.dtype, tokens[1]                # np.uint16, 50256

    Details:
    - The function receives only the path, possibly in another process, so the file must record the dtype.
    - Assigning to the array must not change the file, so map it read-only or copy-on-write.

    Not specified (any choice is fine): the layout of the file; whether there is a second file next to it; the result
    for an empty array; what happens to a loaded array when its file is overwritten.
    """
    raise NotImplementedError
