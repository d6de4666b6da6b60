"""Mistakes in writing and reading token files."""

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import memmap_tokens as oracle


@instead_of(oracle.round_trip, "the dtype is not kept: the tokens come back as int64")
def wide(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """Equal values, four times the bytes of uint16."""
    return tokens.astype(np.int64)


@instead_of(oracle.round_trip, "the tokens are made uint16, whatever they were saved as")
def narrow(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """Enough for GPT-2's vocabulary."""
    return tokens.astype(np.uint16)


@instead_of(oracle.round_trip, "the bytes are read as uint16, whatever they were written as")
def read_as_uint16(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    """A file without a header, and a dtype that is taken for granted."""
    return np.frombuffer(tokens.tobytes()[: tokens.nbytes // 2 * 2], dtype=np.uint16)


@instead_of(oracle.round_trip, "the bytes are read as uint8, np.memmap's default")
def read_as_bytes(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    """Where no dtype is given."""
    return np.frombuffer(tokens.tobytes(), dtype=np.uint8)


@instead_of(oracle.round_trip, "a slice with a step is written with what lies between its elements")
def as_it_lies(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    """The memory from the first element on, without regard to strides."""
    return np.lib.stride_tricks.as_strided(tokens, tokens.shape, (tokens.itemsize,)).copy()


@instead_of(oracle.file_bytes, "every token takes eight bytes on disk, whatever its dtype")
def eight_bytes(tokens: Int[Array, "n"]) -> tuple[int, int]:
    """Written as int64."""
    return 8 * tokens.size, 8 * tokens.size + oracle.HEADER
