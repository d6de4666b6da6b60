"""Oracle for get_batch: which rows a batch may contain, and how its start positions are distributed."""

import math
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

Likely: TypeAlias = tuple[float, float]  # range of a chi-square statistic, exceeded once in a billion runs
Shares: TypeAlias = Float[Array, "starts"]
LOOKS = 6  # maximum number of statistics per test: a chi-square, the ends and the halves, for up to two lists of counts
SURPRISE = math.log(2 * LOOKS * 1e9)


def read_batch(returned: Any, batch_size: int, sequence_length: int) -> Any:  # noqa: ARG001  (mistakes use them)
    """Return the batch that the result of get_batch contains. In correct code, the result is the batch itself."""
    return returned


def rows(batch_size: int, tokens: int, sequence_length: int) -> int:  # noqa: ARG001  (mistakes use them)
    """Return the number of rows in a batch."""
    return batch_size


def starts(tokens: int, sequence_length: int) -> range:
    """Return the valid start positions. A window must be followed by at least one token, its last target."""
    return range(tokens - sequence_length)


def windows(data: Int[Array, "tokens"], sequence_length: int) -> Int[Array, "starts sequence"]:
    """Return the window at each start position."""
    return np.lib.stride_tricks.sliding_window_view(data, sequence_length)[list(starts(len(data), sequence_length))]


def is_row(row: Int[Array, "sequence"], data: Int[Array, "tokens"]) -> bool:
    """Return whether `row` is a window of the data."""
    return bool((windows(data, len(row)) == row).all(axis=1).any())


def are_even(counts: Int[Array, "starts"], likely: Likely) -> bool:
    """Return whether the counts are consistent with equally likely starts.

    A chi-square test has little power if two or many counts differ slightly. Therefore, the count of the two ends and
    the count of the first half are checked as well.
    """
    n = len(counts)
    ends, half = (counts[:: max(1, n - 1)], 2 / n), (counts[: n // 2], n // 2 / n)
    sums = all(is_likely(int(part.sum()), int(counts.sum()), share) for part, share in (ends, half))
    return counts.min() > 0 and likely[0] <= chi_square(counts, np.full(n, 1 / n)) <= likely[1] and sums


def is_likely(count: int, draws: int, share: float) -> bool:
    """Return whether a count is likely, given the number of draws and the expected fraction.

    By Chernoff's bound, P(|count - draws * share| is at least this large on this side) <= exp(-surprise), where
    surprise is `draws` times the relative entropy. A correct count is therefore rejected with a probability of at most
    2 * exp(-SURPRISE) = 1e-9 / LOOKS.
    """
    pairs = ((count, draws * share), (draws - count, draws * (1 - share)))
    return sum(came * math.log(came / expected) for came, expected in pairs if came) <= SURPRISE


def are_independent(a: Int[Array, "calls"], b: Int[Array, "calls"], shares: Shares, likely: Likely) -> bool:
    """Return whether the start positions of two rows are independent, given the probability of each position."""
    return likely[0] <= chi_square(count_pairs(a, b, len(shares)), np.outer(shares, shares)) <= likely[1]


def count_pairs(a: Int[Array, "calls"], b: Int[Array, "calls"], starts: int) -> Int[Array, "starts starts"]:
    """Count the occurrences of each pair of starts."""
    return np.bincount(starts * a + b, minlength=starts**2).reshape(starts, starts)


def chi_square(counts: Int[Array, "*n"], shares: Float[Array, "*n"]) -> float:
    """Return the chi-square statistic of the counts, given the expected fractions."""
    expected = counts.sum() * shares[shares > 0]
    return float(((counts[shares > 0] - expected) ** 2 / expected).sum())


def are_even_everywhere(starts: Int[Array, "rows"], tokens: int, parts: Likely, remainders: Likely) -> bool:
    """Return whether the starts in a large file are uniformly distributed, both over its twelfths and modulo 6."""
    if starts.min() < 0 or starts.max() >= tokens:
        return False
    return are_even(count_twelfths(starts, tokens), parts) and are_even(count_remainders(starts), remainders)


def count_twelfths(starts: Int[Array, "rows"], tokens: int) -> Int[Array, "12"]:
    """Count the starts in each twelfth of a file."""
    return np.bincount((starts * 12 // tokens).clip(0, 11), minlength=12)


def count_remainders(starts: Int[Array, "rows"]) -> Int[Array, "6"]:
    """Count the starts by remainder modulo 6."""
    return np.bincount(starts % 6, minlength=6)


def repeats() -> dict[str, bool]:
    """Return whether the same torch.manual_seed yields the same batches, regardless of the other generators' states."""
    return dict.fromkeys(["as before", "with np.random in another state", "with random in another state"], True)


def expected_device(device: str) -> str:
    """Return the expected device of the batch."""
    return device


def is_refused(tokens: int, sequence_length: int) -> bool:
    """Return whether the data must be rejected because it is too short for a window and its target."""
    return tokens <= sequence_length


def bytes_read(file_bytes: int) -> range:
    """Return the range in which the number of bytes read from a large file to get a few windows must lie."""
    return range(file_bytes // 8 + 1)
