"""Mistakes in get_batch that change how often start positions occur, alone and together."""

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from reference.get_batch import oracle
from reference.get_batch.oracle import Likely, Shares
from torchkata import instead_of

EQUAL_ROWS = "two rows of a batch are always the same window"
REMAINDER = "the first start positions occur more often, as after taking the remainder (%) of a random integer"
FROM_ONE_START = "the rows of a batch are always at the same distances from each other"


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
    falls = bool((quarters[:-1] > 1.05 * quarters[1:]).all()) and quarters[0] > 2 * quarters[-1]
    return falls and bool(np.count_nonzero(counts) > len(counts) / 2)


@instead_of(oracle.are_even, "larger start positions occur more often")
def late(counts: Int[Array, "starts"], likely: Likely) -> bool:
    quarters = counts[: len(counts) // 4 * 4].reshape(4, -1).sum(axis=1)
    rises = bool((1.05 * quarters[:-1] < quarters[1:]).all()) and 2 * quarters[0] < quarters[-1]
    return rises and bool(np.count_nonzero(counts) > len(counts) / 2)


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
    oracle.are_even_everywhere,
    "no start position is 2**16 or larger, or tokens are converted to an integer dtype of 16 bits or fewer",
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
