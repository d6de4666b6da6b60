"""Oracle for memmap_tokens."""

from jaxtyping import Int
from numpy import ndarray as Array

HEADER = 4096  # maximum size of a file without its tokens, in bytes


def round_trip(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """Return the loaded tokens: those that were saved, in their dtype."""
    return tokens.copy()


def file_bytes(tokens: Int[Array, "n"]) -> tuple[int, int]:
    """Return the minimum and maximum size of the file, in bytes."""
    return tokens.nbytes, tokens.nbytes + HEADER


def bytes_in_memory(size: int) -> range:
    """Return how many bytes may be in memory after a few tokens of a `size`-byte file have been used."""
    return range(size // 8 + 1)
