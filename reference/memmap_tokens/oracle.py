"""Tokens on disk."""

from jaxtyping import Int
from numpy import ndarray as Array

HEADER = 4096  # bytes that a file may have beside its tokens


def round_trip(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """What comes back is what was saved, in its dtype."""
    return tokens.copy()


def file_bytes(tokens: Int[Array, "n"]) -> tuple[int, int]:
    """The fewest and the most bytes on disk: the tokens as they are, and a header."""
    return tokens.nbytes, tokens.nbytes + HEADER


def bytes_in_memory(size: int) -> range:
    """How much of a file may be in memory after a few of its tokens have been used: some pages, however large it is."""
    return range(size // 8 + 1)
