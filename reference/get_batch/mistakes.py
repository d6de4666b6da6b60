"""Mistakes in batches: their form, where their windows begin, and what draws them."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray as Array
from torch import Tensor

from reference.get_batch import oracle
from reference.get_batch.oracle import Likely, Shares
from torchkata import instead_of

WITHOUT_TARGET = "the last token is not kept back: the last window has no target after it"
EQUAL_ROWS = "two rows of a batch are always the same window"
FROM_ONE_START = "the rows follow from one start, each a fixed number of tokens after another"


@instead_of(oracle.inputs, "a pair is returned, as of inputs and targets: the inputs alone are asked for")
def pair(returned: Any, batch_size: int, sequence_length: int) -> Any:
    if not (isinstance(returned, list) and len(returned) == 2 and all(isinstance(one, Tensor) for one in returned)):
        return returned
    one, other = returned
    short = one.ndim == 2 and one.shape == other.shape == (batch_size, sequence_length - 1)
    return torch.cat([one, other[:, -1:]], dim=1) if short and sequence_length > 1 else one


@instead_of(oracle.inputs, "the rows have sequence_length + 1 tokens: the target is one of them")
def target_in_the_row(returned: Any, batch_size: int, sequence_length: int) -> Any:
    wide = isinstance(returned, Tensor) and list(returned.shape) == [batch_size, sequence_length + 1]
    return returned[:, :-1] if wide else returned


@instead_of(oracle.inputs, "the shape is (sequence_length, batch_size), not (batch_size, sequence_length)")
def transposed(returned: Any, batch_size: int, sequence_length: int) -> Any:
    return returned.T if isinstance(returned, Tensor) and returned.ndim == 2 else returned


@instead_of(oracle.inputs, "an axis of size 1 is squeezed away: a batch of one row has two axes, too")
def squeezed(returned: Any, batch_size: int, sequence_length: int) -> Any:
    left = [size for size in (batch_size, sequence_length) if size != 1]
    fits = isinstance(returned, Tensor) and list(returned.shape) == left
    return returned.reshape(batch_size, sequence_length) if fits else returned


@instead_of(oracle.inputs, "the windows follow one another in one long row: they are not stacked")
def in_one_row(returned: Any, batch_size: int, sequence_length: int) -> Any:
    long = isinstance(returned, Tensor) and list(returned.shape) == [batch_size * sequence_length]
    return returned.reshape(batch_size, sequence_length) if long else returned


@instead_of(oracle.inputs, "the tokens are floats: an integer dtype is asked for")
def floats(returned: Any, batch_size: int, sequence_length: int) -> Any:
    return returned.long() if isinstance(returned, Tensor) and returned.is_floating_point() else returned


@instead_of(oracle.inputs, "a NumPy array is returned: a tensor is asked for")
def an_array(returned: Any, batch_size: int, sequence_length: int) -> Any:
    return torch.from_numpy(returned) if isinstance(returned, Array) else returned


@instead_of(oracle.inputs, "a list of rows is returned: one tensor of all is asked for")
def a_list(returned: Any, batch_size: int, sequence_length: int) -> Any:
    rows = isinstance(returned, list) and len(returned) == batch_size
    return torch.stack([torch.as_tensor(row) for row in returned]) if rows else returned


@instead_of(oracle.rows, "a batch has no more rows than there are starts: one may come twice")
def no_more_than_starts(batch_size: int, tokens: int, sequence_length: int) -> int:
    return min(batch_size, len(oracle.starts(tokens, sequence_length)))


@instead_of(oracle.starts, WITHOUT_TARGET)
def without_target(tokens: int, sequence_length: int) -> range:
    return range(tokens - sequence_length + 1)


@instead_of(oracle.is_refused, WITHOUT_TARGET)
def accepted_without_target(tokens: int, sequence_length: int) -> bool:
    return tokens < sequence_length


@instead_of(oracle.starts, "the last start never comes: one token too many is kept back")
def last_missing(tokens: int, sequence_length: int) -> range:
    return range(max(1, tokens - sequence_length - 1))


@instead_of(oracle.starts, "the first start never comes: starts are counted from 1")
def first_missing(tokens: int, sequence_length: int) -> range:
    return range(min(1, tokens - sequence_length - 1), tokens - sequence_length)


@instead_of(oracle.starts, "the rows are the targets, one token later")
def targets(tokens: int, sequence_length: int) -> range:
    return range(1, tokens - sequence_length + 1)


@instead_of(oracle.starts, "windows begin at multiples of sequence_length only")
def on_a_grid(tokens: int, sequence_length: int) -> range:
    return range(0, tokens - sequence_length, sequence_length)


@instead_of(oracle.starts, "rows begin at every token: sequence_length is not taken off the number of starts")
def at_every_token(tokens: int, sequence_length: int) -> range:
    return range(tokens)


@instead_of(oracle.starts, "rows begin at every token but the last: sequence_length is not taken off their number")
def at_every_token_but_the_last(tokens: int, sequence_length: int) -> range:
    return range(tokens - 1)


@instead_of(oracle.windows, "the tokens pass through float32, which rounds those above 2**24")
def through_float32(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    return oracle.windows(data.astype(np.float32).astype(np.int64), sequence_length)


@instead_of(oracle.windows, "the tokens pass through float64, which rounds those above 2**53")
def through_float64(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    return oracle.windows(data.astype(np.float64).astype(np.int64), sequence_length)


@instead_of(oracle.windows, "the tokens are made int32: from 2**31 on they do not fit")
def int32(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    return oracle.windows(data.astype(np.int32).astype(np.int64), sequence_length)


@instead_of(oracle.windows, "the tokens are made int16: from 32768 on they do not fit")
def int16(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    return oracle.windows(data.astype(np.int16).astype(np.int64), sequence_length)


@instead_of(oracle.windows, "the tokens are made uint8: from 256 on they do not fit")
def uint8(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    return oracle.windows(data % 2**8, sequence_length)


@instead_of(oracle.windows, "only 16 bits of each token are read, whatever the dtype of the data")
def uint16(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    return oracle.windows(data.astype(np.uint16).astype(np.int64), sequence_length)


@instead_of(oracle.is_row, "the tokens of a row are all in the data, but not next to each other")
def torn(row: Int[Array, "sequence"], data: Int[Array, "tokens"]) -> bool:
    lie_together = np.sort(np.lib.stride_tricks.sliding_window_view(data, len(row)), axis=1)
    together = bool((lie_together == np.sort(row)).all(axis=1).any())
    return oracle.is_row(row, data) or (not together and bool(np.isin(row, data).all()))


@instead_of(oracle.is_row, "the tokens of a row are in the reverse order")
def backwards(row: Int[Array, "sequence"], data: Int[Array, "tokens"]) -> bool:
    return oracle.is_row(row[::-1], data)


@instead_of(oracle.are_even, "the last start comes far more often than any other: later draws are moved back to it")
def moved_back(counts: Int[Array, "starts"], likely: Likely) -> bool:
    return counts[-1] > 2 * counts[:-1].mean() and oracle.are_even(counts[:-1], likely)


@instead_of(oracle.are_even, "some starts come twice as often as all others")
def twice_as_often(counts: Int[Array, "starts"], likely: Likely) -> bool:
    once, n = np.arange(len(counts)), len(counts)
    weights = [np.where(once < fewer, 1, 2) for fewer in range(n // 8, n - n // 8)]
    return any(oracle.chi_square(np.sort(counts), weight / weight.sum()) <= likely[1] for weight in weights)


@instead_of(oracle.are_even, "the smaller a start, the more often it comes")
def early(counts: Int[Array, "starts"], likely: Likely) -> bool:
    quarters = counts[: len(counts) // 4 * 4].reshape(4, -1).sum(axis=1)
    return bool((quarters[:-1] > quarters[1:]).all()) and quarters[0] > 2 * quarters[-1]


@instead_of(oracle.are_even, "the larger a start, the more often it comes")
def late(counts: Int[Array, "starts"], likely: Likely) -> bool:
    quarters = counts[: len(counts) // 4 * 4].reshape(4, -1).sum(axis=1)
    return bool((quarters[:-1] < quarters[1:]).all()) and 2 * quarters[0] < quarters[-1]


@instead_of(oracle.are_even, "the last starts never come: windows are drawn from a first part of the data alone")
def first_part(counts: Int[Array, "starts"], likely: Likely) -> bool:
    came = np.trim_zeros(counts, "b")
    return len(came) + 1 < len(counts) and oracle.are_even(came, likely)


@instead_of(oracle.are_even, "only even starts come")
def every_second(counts: Int[Array, "starts"], likely: Likely) -> bool:
    return counts[1::2].max() == 0 and oracle.are_even(counts[::2], likely)


@instead_of(oracle.are_even, "each start comes once before any comes again: draws have no memory")
def one_after_the_other(counts: Int[Array, "starts"], likely: Likely) -> bool:
    return bool(counts.max() - counts.min() <= 1)


@instead_of(
    oracle.are_everywhere, "from 2**24 on no odd start comes, or no odd token: float32 holds only even ones there"
)
def even_ones(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    late = starts[starts >= 2**24]
    return len(late) > 0 and bool((late % 2 == 0).all() and (starts % 2 == 1).any())


@instead_of(oracle.are_everywhere, "only even starts come, as where a random float32 with its 24 bits is scaled up")
def only_even(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    return len({*starts.tolist()}) > 1 and bool((starts % 2 == 0).all())


@instead_of(oracle.are_everywhere, EQUAL_ROWS)
def equal_starts(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    return bool((starts == starts[0]).all())


@instead_of(oracle.are_everywhere, FROM_ONE_START)
def starts_in_a_row(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    steps = np.diff(starts) % tokens
    return steps[0] != 0 and bool((steps == steps[0]).all())


@instead_of(oracle.are_everywhere, "no start from 2**16 on comes, or each token is cut to 16 bits or fewer")
def the_first_65536(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    return len({*np.diff(starts).tolist()}) > 1 and bool((abs(starts) < 2**16).all())


@instead_of(oracle.are_free, EQUAL_ROWS)
def equal_rows(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return bool((a == b).all()) or oracle.are_free(a, b, shares, likely)


@instead_of(oracle.are_free, FROM_ONE_START)
def from_one_start(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return is_fixed(a, b, len(shares))


def is_fixed(a: Int[Array, "calls"], b: Int[Array, "calls"], starts: int) -> bool:
    """Whether there is always the same step from the one to the other."""
    steps = (b - a)[b < starts - 1] % starts
    return len(steps) > 0 and bool((steps == steps[0]).all() and (a != b).any())


@instead_of(oracle.are_free, "the rows of a batch are in the order of their starts")
def in_order(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    ordered = bool((a <= b).all() and (a < b).any())
    return ordered and a.max() > b.min() and not is_fixed(a, b, len(shares))


@instead_of(oracle.are_free, "each row of a batch has a part of the data to itself")
def in_parts(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return bool(a.max() <= b.min())


@instead_of(oracle.are_free, "no start comes twice in a batch: they are drawn without replacement")
def never_twice(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    counts = oracle.pairs(a, b, len(shares))
    return bool((counts.diagonal() == 0).all() and (counts + np.eye(len(shares)) > 0).all())


@instead_of(oracle.are_free, "one row begins as far from the end as another from the beginning")
def mirrored(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    return bool((a + b == len(shares) - 1).all()) or oracle.are_free(a, b, shares, likely)


@instead_of(oracle.repeats, "NumPy's generator has a part in the draws: torch.manual_seed does not set it")
def drawn_by_numpy() -> dict[str, bool]:
    return oracle.repeats() | {"with np.random elsewhere": False}


@instead_of(oracle.repeats, "Python's own random has a part in the draws: torch.manual_seed does not set it")
def drawn_by_random() -> dict[str, bool]:
    return oracle.repeats() | {"with random elsewhere": False}


@instead_of(oracle.repeats, "no seed repeats the batches, not torch's nor NumPy's nor random's: something else decides")
def drawn_by_another() -> dict[str, bool]:
    return dict.fromkeys(oracle.repeats(), False)


@instead_of(oracle.place, "the batch is on the CPU, whatever device is asked for")
def on_the_cpu(device: str) -> str:
    return "cpu"


@instead_of(oracle.bytes_read, "the whole file is read, not only the windows")
def all_bytes(file_bytes: int) -> range:
    return range(file_bytes, 2 * file_bytes)
