"""A batch has many right values: what it is, which rows it may hold, and how its draws fall."""

from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

Likely: TypeAlias = tuple[float, float]  # where a chi-square lies in all but a billionth of all runs
Shares: TypeAlias = Float[Array, "starts"]


def inputs(returned: Any, batch_size: int, sequence_length: int) -> Any:  # noqa: ARG001  (the same for all)
    """The batch in what is returned: all of it."""
    return returned


def rows(batch_size: int, tokens: int, sequence_length: int) -> int:  # noqa: ARG001  (however many there are)
    """How many rows a batch has."""
    return batch_size


def starts(tokens: int, sequence_length: int) -> range:
    """Where a window may begin: its last token still has a target after it."""
    return range(tokens - sequence_length)


def windows(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    """All windows: one for each start."""
    return np.lib.stride_tricks.sliding_window_view(data, sequence_length)[list(starts(len(data), sequence_length))]


def is_row(row: Int[Array, "sequence"], data: Int[Array, "tokens"]) -> bool:
    """Whether a batch may hold this row."""
    return bool((windows(data, len(row)) == row).all(axis=1).any())


def are_even(counts: Int[Array, "starts"], likely: Likely) -> bool:
    """Whether starts that came so often are equally likely."""
    return counts.min() > 0 and likely[0] <= chi_square(counts, even(len(counts))) <= likely[1]


def even(starts: int) -> Shares:
    """The same share for each start."""
    return np.full(starts, 1 / starts)


def are_free(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    """Whether two rows, batch by batch, have nothing to do with each other, and each start its share in both."""
    return likely[0] <= chi_square(pairs(a, b, len(shares)), np.outer(shares, shares)) <= likely[1]


def pairs(a: Int[Array, "calls"], b: Int[Array, "calls"], starts: int) -> Int[Array, "starts starts"]:
    """How often each pair of starts came."""
    return np.bincount(starts * a + b, minlength=starts**2).reshape(starts, starts)


def chi_square(counts: Int[Array, "*n"], shares: Float[Array, "*n"]) -> float:
    """How far counts are from these shares of their sum."""
    expected = counts.sum() * shares[shares > 0]
    return float(((counts[shares > 0] - expected) ** 2 / expected).sum())


def are_everywhere(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    """Whether all starts in a large file are equally likely, in each part of it and with each remainder."""
    if starts.min() < 0 or starts.max() >= tokens:
        return False
    return are_even(twelfths(starts, tokens), parts) and are_even(sixths(starts), remainders)


def twelfths(starts: Int[Array, "rows"], tokens: int) -> Int[Array, "12"]:
    """How many starts lie in each twelfth of a file."""
    return np.bincount((starts * 12 // tokens).clip(0, 11), minlength=12)


def sixths(starts: Int[Array, "rows"]) -> Int[Array, "6"]:
    """How many starts have each remainder by 6."""
    return np.bincount(starts % 6, minlength=6)


def repeats() -> dict[str, bool]:
    """Whether the same torch.manual_seed gives the same batches, wherever other generators stand."""
    return dict.fromkeys(["as before", "with np.random elsewhere", "with random elsewhere"], True)


def place(device: str) -> str:
    """Where the batch is."""
    return device


def is_refused(tokens: int, sequence_length: int) -> bool:
    """Whether there is no window."""
    return len(starts(tokens, sequence_length)) == 0


def bytes_read(file_bytes: int) -> range:
    """How much of a large file may be read for a few windows: some pages, however large it is."""
    return range(file_bytes // 8 + 1)
