"""Mistakes in get_batch: in the format of the batch, its start positions, and their distribution."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray as Array
from torch import Tensor

from reference.get_batch import oracle
from reference.get_batch.oracle import Likely, Shares
from torchkata import Mistake, instead_of

WITHOUT_TARGET = "the largest start position is too large by one: no target follows the last window"
EQUAL_ROWS = "two rows of a batch are always the same window"
REMAINDER = "the first start positions occur more often, as after taking the remainder (%) of a random integer"
AT_EVERY_TOKEN = "start positions are drawn from range(len(data)): subtract sequence_length"
AT_EVERY_TOKEN_BUT_THE_LAST = (
    "start positions are drawn from range(len(data) - 1): subtract sequence_length instead of 1"
)
FROM_ONE_START = "the rows of a batch are always at the same distances from each other"


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


@instead_of(
    oracle.are_even,
    "the last start position occurs far more often than any other, as if larger draws were clamped to it",
)
def moved_back(counts: Int[Array, "starts"], likely: Likely) -> bool:
    return counts[-1] > 2 * counts[:-1].mean() and oracle.are_even(counts[:-1], likely)


@instead_of(
    oracle.are_even,
    "the first and the last start position occur half as often as the others, as after rounding to the nearest",
)
def half_ends(counts: Int[Array, "starts"], likely: Likely) -> bool:
    return have_ratios(counts, np.array([1, *[2] * (len(counts) - 2), 1]), likely)


def have_ratios(counts: Int[Array, "starts"], weights: Int[Array, "starts"], likely: Likely) -> bool:
    """Return whether the counts are consistent with starts whose probabilities are proportional to `weights`."""
    return oracle.chi_square(counts, weights / weights.sum()) <= likely[1]


@instead_of(oracle.are_even, "some start positions occur twice as often as others")
def twice_as_often(counts: Int[Array, "starts"], likely: Likely) -> bool:
    once, n = np.arange(len(counts)), len(counts)
    weights = [np.where(once < fewer, 1, 2) for fewer in range(n // 8, n - n // 8)]
    fits = any(have_ratios(np.sort(counts), weight, likely) for weight in weights)
    return fits and not half_ends.mistaken(counts, likely)


@instead_of(oracle.are_even, REMAINDER)
def first_favored(counts: Int[Array, "starts"], likely: Likely) -> bool:
    place, n = np.arange(len(counts)), len(counts)
    weights = [np.where(place < more, k + 1, k) for k in range(2, 12) for more in range(1, n)]
    fits = any(have_ratios(counts, weight, likely) for weight in weights)
    return fits and not have_ratios(counts, place * 0 + 1, likely) and not half_ends.mistaken(counts, likely)


@instead_of(oracle.are_even_everywhere, REMAINDER)
def first_part_favored(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    counts = oracle.count_twelfths(starts, tokens)
    return first_favored.mistaken(counts, parts) and oracle.are_even(oracle.count_remainders(starts), remainders)


@instead_of(oracle.are_even, "smaller start positions occur more often")
def early(counts: Int[Array, "starts"], likely: Likely) -> bool:
    quarters = counts[: len(counts) // 4 * 4].reshape(4, -1).sum(axis=1)
    return bool((quarters[:-1] > 1.05 * quarters[1:]).all()) and quarters[0] > 2 * quarters[-1]


@instead_of(oracle.are_even, "larger start positions occur more often")
def late(counts: Int[Array, "starts"], likely: Likely) -> bool:
    quarters = counts[: len(counts) // 4 * 4].reshape(4, -1).sum(axis=1)
    return bool((1.05 * quarters[:-1] < quarters[1:]).all()) and 2 * quarters[0] < quarters[-1]


@instead_of(
    oracle.are_even, "the last start positions never occur: windows are drawn only from the beginning of the data"
)
def first_part(counts: Int[Array, "starts"], likely: Likely) -> bool:
    came = np.trim_zeros(counts, "b")
    return len(came) + 1 < len(counts) and oracle.are_even(came, likely)


@instead_of(oracle.are_even, "only even start positions occur")
def every_second(counts: Int[Array, "starts"], likely: Likely) -> bool:
    return counts[1::2].max() == 0 and oracle.are_even(counts[::2], likely)


@instead_of(oracle.are_even, "all start positions occur equally often, to within one: draw each one independently")
def one_after_the_other(counts: Int[Array, "starts"], likely: Likely) -> bool:
    return bool(counts.max() - counts.min() <= 1)


@instead_of(
    oracle.are_even_everywhere,
    "above 2**24, only even start positions or tokens occur, as in float32, which cannot represent odd integers there",
)
def even_ones(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    late = starts[starts >= 2**24]
    return len(late) > 0 and bool((late % 2 == 0).all() and (starts % 2 == 1).any())


@instead_of(
    oracle.are_even_everywhere,
    "only even start positions occur, as with a random float32, whose 24 bits are too few for this file",
)
def only_even(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    return len({*starts.tolist()}) > 1 and bool((starts % 2 == 0).all())


@instead_of(oracle.are_even_everywhere, EQUAL_ROWS)
def equal_starts(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    return bool((starts == starts[0]).all())


@instead_of(oracle.are_even_everywhere, FROM_ONE_START)
def starts_in_a_row(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    steps = np.diff(starts) % tokens
    return steps[0] != 0 and bool((steps == steps[0]).all())


@instead_of(
    oracle.are_even_everywhere, "no start position is 2**16 or larger, or tokens are truncated to 16 bits or fewer"
)
def the_first_65536(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    return len({*np.diff(starts).tolist()}) > 1 and bool((abs(starts) < 2**16).all())


@instead_of(oracle.are_independent, EQUAL_ROWS)
def equal_rows(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return bool((a == b).all()) or oracle.are_independent(a, b, shares, likely)


@instead_of(oracle.are_independent, FROM_ONE_START)
def from_one_start(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return is_fixed(a, b, len(shares))


def is_fixed(a: Int[Array, "calls"], b: Int[Array, "calls"], starts: int) -> bool:
    """Return whether the distance between the start positions of two rows is constant and not 0."""
    steps = (b - a)[b < starts - 1] % starts
    return len(steps) > 0 and bool((steps == steps[0]).all() and (a != b).any())


@instead_of(oracle.are_independent, "the rows of a batch are sorted by start position")
def in_order(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    ordered = bool((a <= b).all() and (a < b).any())
    return ordered and a.max() > b.min() and not is_fixed(a, b, len(shares))


@instead_of(oracle.are_independent, "each row of a batch is drawn from a different part of the data")
def in_parts(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return bool(a.max() <= b.min())


@instead_of(oracle.are_independent, "no start position occurs twice in a batch: draw with replacement")
def never_twice(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    counts = oracle.count_pairs(a, b, len(shares))
    return bool((counts.diagonal() == 0).all() and (counts + np.eye(len(shares)) > 0).all())


@instead_of(
    oracle.are_independent,
    "start positions are mirrored in pairs: one row is as far from the end of the data as another from its beginning",
)
def mirrored(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return bool((a + b == len(shares) - 1).all()) or oracle.are_independent(a, b, shares, likely)


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
