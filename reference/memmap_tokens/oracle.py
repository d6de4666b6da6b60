"""Tokens on disk."""

from jaxtyping import Int
from numpy import ndarray as Array

HEADER = 4096  # bytes that a file may have beside its tokens


def round_trip(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """What comes back is what was saved, in its dtype."""
    return tokens.copy()


def after_an_assignment(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """What the file holds after every element of a loaded array was set to 0: what was saved."""
    return tokens


def after_a_second_save(first: Int[Array, "n"], second: Int[Array, "m"]) -> Int[Array, "m"]:  # noqa: ARG001
    """What a file holds that was there already: the tokens that were saved last."""
    return second


def file_name(name: str) -> str:
    """The file has the name that was given."""
    return name


def file_bytes(tokens: Int[Array, "n"]) -> tuple[int, int]:
    """The fewest and the most bytes on disk: the tokens as they are, and a header."""
    return tokens.nbytes, tokens.nbytes + HEADER


def bytes_in_memory(size: int) -> range:
    """How much of a file may be in memory after a few of its tokens have been used: some pages, however large it is."""
    return range(size // 8 + 1)
