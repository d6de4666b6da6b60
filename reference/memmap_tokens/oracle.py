"""Oracle for memmap_tokens."""

from jaxtyping import Int
from numpy import ndarray as Array

HEADER = 4096  # maximum size of a file excluding its tokens, in bytes


def round_trip(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """Return the loaded tokens, which are the saved tokens in their original dtype."""
    return tokens.copy()


def file_bytes(tokens: Int[Array, "n"]) -> tuple[int, int]:
    """Return the minimum and maximum size of the file, in bytes."""
    return tokens.nbytes, tokens.nbytes + HEADER


def bytes_in_memory(size: int) -> range:
    """Return the range in which the number of resident bytes must lie after accesses to a few tokens of a file."""
    return range(size // 8 + 1)
