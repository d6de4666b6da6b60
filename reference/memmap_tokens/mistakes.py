"""Mistakes in memmap_tokens."""

import io

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray as Array

from reference.memmap_tokens import oracle
from torchkata import Mistake, instead_of

NARROW = "the tokens are converted to uint16, regardless of their dtype"
SIGNED = "tokens of 32768 and above become negative, as in int16"
INT32 = "the tokens are converted to int32, regardless of their dtype"
UINT32 = "the tokens are converted to uint32, regardless of their dtype"
UINT8 = "the tokens are converted to uint8, which overflows at 256"
FLOATS = "the tokens are converted to floats"


def converted(dtype: type[np.generic], message: str) -> Mistake:
    """Return a mistake that converts the tokens to `dtype`."""
    return instead_of(oracle.round_trip, message)(lambda tokens: tokens.astype(dtype))


def stored(dtype: type[np.generic], message: str) -> Mistake:
    """Return a mistake that stores the tokens in `dtype`."""
    return instead_of(oracle.file_bytes, message)(lambda tokens: oracle.file_bytes(tokens.astype(dtype)))


wide = converted(np.int64, "the dtype is lost: the tokens are loaded as int64")
narrow, stored_narrow = converted(np.uint16, NARROW), stored(np.uint16, NARROW)
signed, stored_signed = converted(np.int16, SIGNED), stored(np.int16, SIGNED)
int32, stored_as_int32 = converted(np.int32, INT32), stored(np.int32, INT32)
uint32, stored_as_uint32 = converted(np.uint32, UINT32), stored(np.uint32, UINT32)
uint8, stored_as_uint8 = converted(np.uint8, UINT8), stored(np.uint8, UINT8)
floats, stored_as_floats = converted(np.float32, FLOATS), stored(np.float32, FLOATS)


@instead_of(oracle.round_trip, "the tokens are loaded in the smallest dtype that holds them instead of their own")
def smallest(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens.astype(np.min_scalar_type(int(tokens.max())))


@instead_of(
    oracle.round_trip,
    "the tokens are loaded in the smallest of uint8, uint16, int32 and int64 that holds them, not in their own dtype",
)
def smallest_of_four(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    fitting = (np.dtype(name) for name in ("uint8", "uint16", "int32", "int64") if tokens.max() <= np.iinfo(name).max)
    return tokens.astype(next(fitting))


@instead_of(oracle.round_trip, "the bytes of the tokens are always read as uint16, regardless of their dtype")
def read_as_uint16(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    return np.frombuffer(tokens.tobytes()[: tokens.nbytes // 2 * 2], dtype=np.uint16)


@instead_of(oracle.round_trip, "the file is read as uint8, the default dtype of np.memmap")
def read_as_bytes(tokens: Int[Array, "n"]) -> Int[Array, "m"]:
    return np.frombuffer(tokens.tobytes(), dtype=np.uint8)


@instead_of(oracle.round_trip, "the header is read as tokens: skip it")
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


@instead_of(oracle.round_trip, "the tokens are loaded in reverse order")
def backwards(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return tokens[::-1].copy()


@instead_of(oracle.round_trip, "a tensor is returned instead of a NumPy array")
def as_a_tensor(tokens: Int[Array, "n"]) -> torch.Tensor:
    return torch.from_numpy(tokens.copy())


@instead_of(oracle.round_trip, "the array has two dimensions instead of one")
def column(tokens: Int[Array, "n"]) -> Int[Array, "n 1"]:
    return tokens[:, None]


@instead_of(oracle.round_trip, "a list is returned instead of a NumPy array")
def as_a_list(tokens: Int[Array, "n"]) -> list[int]:
    return tokens.tolist()


@instead_of(oracle.round_trip, "elements that a strided slice skips are also written")
def as_it_lies(tokens: Int[Array, "n"]) -> Int[Array, "n"]:
    return np.lib.stride_tricks.as_strided(tokens, tokens.shape, (tokens.itemsize,)).copy()


@instead_of(oracle.file_bytes, "every token takes 8 bytes on disk, regardless of its dtype")
def eight_bytes(tokens: Int[Array, "n"]) -> tuple[int, int]:
    return 8 * tokens.size, 8 * tokens.size + oracle.HEADER


@instead_of(oracle.file_bytes, "the tokens are written as text")
def text(tokens: Int[Array, "n"]) -> tuple[int, int]:
    size = sum(len(str(token)) + 1 for token in tokens.tolist())
    return size, size + oracle.HEADER


@instead_of(
    oracle.bytes_in_memory,
    "most of the tokens are in memory after loading: they are read or copied (np.load can map only the npy format)",
)
def read_whole(size: int) -> range:
    return range(size // 2, 2 * size)
