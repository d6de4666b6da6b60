"""Mistakes in writing and reading token files."""

import io

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray as Array

from reference.memmap_tokens import oracle
from torchkata import instead_of


@instead_of(oracle.round_trip, "the dtype is not kept: the tokens come back as int64")
def wide(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens.astype(np.int64)


@instead_of(oracle.round_trip, "the tokens are made uint16, whatever they were saved as")
def narrow(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens.astype(np.uint16)


@instead_of(oracle.round_trip, "the tokens are made int16: from 32768 on they become negative")
def signed(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens.astype(np.int16)


@instead_of(oracle.round_trip, "the tokens are made int32, whatever they were saved as")
def int32(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens.astype(np.int32)


@instead_of(oracle.round_trip, "the tokens are made uint8: from 256 on they do not fit")
def uint8(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens.astype(np.uint8)


@instead_of(oracle.round_trip, "the dtype is the smallest that holds the tokens, not their own")
def smallest(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens.astype(np.min_scalar_type(int(tokens.max())))


@instead_of(
    oracle.round_trip, "the smallest of uint8, uint16, int32 and int64 that holds the tokens is taken, not their own"
)
def smallest_of_four(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    fitting = (np.dtype(name) for name in ("uint8", "uint16", "int32", "int64") if tokens.max() <= np.iinfo(name).max)
    return tokens.astype(next(fitting))


@instead_of(oracle.round_trip, "the tokens are made floats")
def floats(tokens: Int[Array, "n"]) -> Float[Array, "n"]:
    return tokens.astype(np.float32)


@instead_of(
    oracle.round_trip, "the dtype is not in the file: its bytes are read as uint16, whatever they were written as"
)
def read_as_uint16(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    return np.frombuffer(tokens.tobytes()[: tokens.nbytes // 2 * 2], dtype=np.uint16)


@instead_of(oracle.round_trip, "the bytes are read as uint8, np.memmap's default")
def read_as_bytes(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    return np.frombuffer(tokens.tobytes(), dtype=np.uint8)


@instead_of(oracle.round_trip, "the file is read from its first byte on: the header comes back as tokens")
def header_as_tokens(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    file = io.BytesIO()
    np.save(file, tokens)
    return np.frombuffer(file.getvalue(), dtype=tokens.dtype)


@instead_of(oracle.round_trip, "the last token is lost")
def without_the_last(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    return tokens[:-1]


@instead_of(oracle.round_trip, "the first token is lost")
def without_the_first(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    return tokens[1:]


@instead_of(oracle.round_trip, "the tokens come back in the reverse order")
def backwards(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens[::-1].copy()


@instead_of(oracle.round_trip, "the tokens come back as a tensor, not as an array")
def as_a_tensor(tokens: Int[Array, "n"]) -> torch.Tensor:
    return torch.from_numpy(tokens.copy())


@instead_of(oracle.round_trip, "the tokens come back as a column, in two dimensions")
def column(tokens: Int[Array, "n"]) -> Int[Array, "n 1"]:
    return tokens[:, None]


@instead_of(oracle.round_trip, "the tokens come back as a list, not as an array")
def as_a_list(tokens: Int[Array, "n"]) -> list[int]:
    return tokens.tolist()


@instead_of(oracle.round_trip, "a slice with a step is written with what lies between its elements")
def as_it_lies(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return np.lib.stride_tricks.as_strided(tokens, tokens.shape, (tokens.itemsize,)).copy()


@instead_of(oracle.file_bytes, "every token takes eight bytes on disk, whatever its dtype")
def eight_bytes(tokens: Int[Array, "n"]) -> tuple[int, int]:
    return 8 * tokens.size, 8 * tokens.size + oracle.HEADER


@instead_of(oracle.file_bytes, "the numbers are written as text, digit by digit")
def text(tokens: Int[Array, "n"]) -> tuple[int, int]:
    size = sum(len(str(token)) + 1 for token in tokens.tolist())
    return size, size + oracle.HEADER


@instead_of(oracle.bytes_in_memory, "the whole file is read into memory, not only the pages that are used")
def read_whole(size: int) -> range:
    return range(size // 2, 2 * size)
