"""Mistakes in get_batch: in the format of the batch, in its start positions, and in what it reads."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray as Array
from torch import Tensor

from reference.get_batch import distribution_mistakes, oracle
from torchkata import Mistake, instead_of

SHARED = [distribution_mistakes]
WITHOUT_TARGET = "the largest start position is too large by one: no target follows the last window"
AT_EVERY_TOKEN = "start positions are drawn from range(len(data)): subtract sequence_length"
AT_EVERY_TOKEN_BUT_THE_LAST = (
    "start positions are drawn from range(len(data) - 1): subtract sequence_length instead of 1"
)


@instead_of(oracle.read_batch, "a pair is returned, such as (inputs, targets): return only the inputs")
def pair(returned: Any, batch_size: int, sequence_length: int) -> Any:
    if not (isinstance(returned, list) and len(returned) == 2 and all(isinstance(one, Tensor) for one in returned)):
        return returned
    one, other = returned
    short = one.ndim == 2 and one.shape == other.shape == (batch_size, sequence_length - 1)
    return torch.cat([one, other[:, -1:]], dim=1) if short and sequence_length > 1 else one


@instead_of(oracle.read_batch, "the rows have sequence_length + 1 tokens: they include the target")
def target_in_the_row(returned: Any, batch_size: int, sequence_length: int) -> Any:
    wide = isinstance(returned, Tensor) and list(returned.shape) == [batch_size, sequence_length + 1]
    return returned[:, :-1] if wide else returned


@instead_of(oracle.read_batch, "the shape is (sequence_length, batch_size), not (batch_size, sequence_length)")
def transposed(returned: Any, batch_size: int, sequence_length: int) -> Any:
    return returned.T if isinstance(returned, Tensor) and returned.ndim == 2 else returned


@instead_of(oracle.read_batch, "an axis of size 1 is squeezed away: a batch of one row still has two axes")
def squeezed(returned: Any, batch_size: int, sequence_length: int) -> Any:
    left = [size for size in (batch_size, sequence_length) if size != 1]
    fits = isinstance(returned, Tensor) and list(returned.shape) == left
    return returned.reshape(batch_size, sequence_length) if fits else None  # adds the missing dimensions of size 1


@instead_of(
    oracle.read_batch, "axis {axis} is squeezed away if its size is 1: a batch always has two axes", axis=[0, 1]
)
def one_axis_squeezed(returned: Any, batch_size: int, sequence_length: int, axis: int) -> Any:
    sizes = [batch_size, sequence_length]
    if sizes[axis] != 1:
        return returned
    fits = isinstance(returned, Tensor) and list(returned.shape) == [sizes[1 - axis]]
    return returned.reshape(sizes) if fits else None


@instead_of(
    oracle.read_batch,
    "a batch of one token has no axes, as if the index were a number: index with a NumPy array",
)
def number_for_an_index(returned: Any, batch_size: int, sequence_length: int) -> Any:
    fits = isinstance(returned, Tensor) and returned.ndim == 0 and batch_size == sequence_length == 1
    return returned.reshape(1, 1) if fits else returned


@instead_of(oracle.read_batch, "the windows are concatenated into one long row: stack them")
def in_one_row(returned: Any, batch_size: int, sequence_length: int) -> Any:
    long = isinstance(returned, Tensor) and list(returned.shape) == [batch_size * sequence_length]
    return returned.reshape(batch_size, sequence_length) if long else None


@instead_of(oracle.read_batch, "the tokens are floats: use an integer dtype")
def floats(returned: Any, batch_size: int, sequence_length: int) -> Any:
    return returned.long() if isinstance(returned, Tensor) and returned.is_floating_point() else returned


@instead_of(oracle.read_batch, "a NumPy array is returned instead of a tensor")
def an_array(returned: Any, batch_size: int, sequence_length: int) -> Any:
    return torch.from_numpy(returned) if isinstance(returned, Array) else returned


@instead_of(oracle.read_batch, "a list of rows is returned instead of one tensor")
def a_list(returned: Any, batch_size: int, sequence_length: int) -> Any:
    rows = isinstance(returned, list) and len(returned) == batch_size
    return torch.stack([torch.as_tensor(row) for row in returned]) if rows else returned


@instead_of(oracle.rows, "the batch size is capped at the number of start positions: draw with replacement")
def no_more_than_starts(batch_size: int, tokens: int, sequence_length: int) -> int:
    return min(batch_size, len(oracle.starts(tokens, sequence_length)))


@instead_of(oracle.starts, WITHOUT_TARGET)
def without_target(tokens: int, sequence_length: int) -> range:
    return range(tokens - sequence_length + 1)


@instead_of(oracle.is_refused, WITHOUT_TARGET)
def accepted_without_target(tokens: int, sequence_length: int) -> bool:
    return tokens < sequence_length


@instead_of(oracle.starts, "the last start position never occurs: the upper bound is one too small")
def last_missing(tokens: int, sequence_length: int) -> range:
    return range(max(0, tokens - sequence_length - 1))


@instead_of(oracle.starts, "start position 0 is never drawn: the range starts at 1")
def first_missing(tokens: int, sequence_length: int) -> range:
    return range(min(1, tokens - sequence_length - 1), tokens - sequence_length)


@instead_of(oracle.starts, "all start positions are one too large, so the rows are the targets")
def targets(tokens: int, sequence_length: int) -> range:
    return range(1, tokens - sequence_length + 1)


@instead_of(oracle.starts, "windows start only at multiples of sequence_length")
def on_a_grid(tokens: int, sequence_length: int) -> range:
    return range(0, tokens - sequence_length, sequence_length)


@instead_of(oracle.starts, "windows start only at multiples of sequence_length, and never at the largest of them")
def in_whole_blocks(tokens: int, sequence_length: int) -> range:
    blocks, rest = divmod(tokens - sequence_length, sequence_length)
    return range(0, blocks * sequence_length, sequence_length) if blocks and rest else range(tokens - sequence_length)


@instead_of(oracle.starts, AT_EVERY_TOKEN)
def at_every_token(tokens: int, sequence_length: int) -> range:
    return range(tokens)


@instead_of(oracle.is_refused, AT_EVERY_TOKEN)
def accepted_if_not_empty(tokens: int, sequence_length: int) -> bool:
    return tokens == 0


@instead_of(oracle.starts, AT_EVERY_TOKEN_BUT_THE_LAST)
def at_every_token_but_the_last(tokens: int, sequence_length: int) -> range:
    return range(tokens - 1)


@instead_of(oracle.is_refused, AT_EVERY_TOKEN_BUT_THE_LAST)
def accepted_from_two_tokens(tokens: int, sequence_length: int) -> bool:
    return tokens <= 1


def converted(dtype: type[np.generic], message: str) -> Mistake:
    """Return a mistake that converts the tokens to `dtype`."""
    return instead_of(oracle.windows, message)(
        lambda data, sequence_length: oracle.windows(data.astype(dtype).astype(np.int64), sequence_length)
    )


through_float32 = converted(np.float32, "tokens above 2**24 are rounded, as in float32")
through_float64 = converted(np.float64, "tokens above 2**53 are rounded, as in float64")
int32 = converted(np.int32, "tokens of 2**31 and above overflow, as in int32")
int16 = converted(np.int16, "tokens of 32768 and above overflow, as in int16")
uint8 = converted(np.uint8, "tokens of 256 and above overflow, as in uint8")
uint16 = converted(np.uint16, "tokens of 65536 and above overflow, as in uint16")


@instead_of(oracle.is_row, "the tokens of a row are not consecutive in the data")
def torn(row: Int[Array, "sequence"], data: Int[Array, "tokens"]) -> bool:
    lie_together = np.sort(np.lib.stride_tricks.sliding_window_view(data, len(row)), axis=1)
    together = bool((lie_together == np.sort(row)).all(axis=1).any())
    return oracle.is_row(row, data) or (not together and bool(np.isin(row, data).all()))


@instead_of(oracle.is_row, "the tokens of a row are in reverse order")
def backwards(row: Int[Array, "sequence"], data: Int[Array, "tokens"]) -> bool:
    return oracle.is_row(row[::-1], data)


@instead_of(oracle.repeats, "NumPy's generator is used, which torch.manual_seed does not seed")
def drawn_by_numpy() -> dict[str, bool]:
    return oracle.repeats() | {"with np.random in another state": False}


@instead_of(oracle.repeats, "Python's random module is used, which torch.manual_seed does not seed")
def drawn_by_random() -> dict[str, bool]:
    return oracle.repeats() | {"with random in another state": False}


@instead_of(
    oracle.repeats,
    "even with torch, NumPy and random seeded, batches are not reproducible: they depend on something else",
)
def drawn_by_another() -> dict[str, bool]:
    return dict.fromkeys(oracle.repeats(), False)


@instead_of(oracle.expected_device, "the batch is on the CPU even if `device` is another device")
def on_the_cpu(device: str) -> str:
    return "cpu"


@instead_of(oracle.bytes_read, "the whole file is read instead of only the windows")
def all_bytes(file_bytes: int) -> range:
    return range(file_bytes, 2 * file_bytes)
