"""get_batch: random windows of a token file."""

import itertools
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.get_batch import oracle
from tests.probes import get_batch as probes
from tests.statistics import chi_square_range
from tests.strategies import TokenCase, permutation, token_cases
from torchkata.compare import assert_equal, check
from torchkata.student import Student
from torchkata.values import Plain


def tokens_of(batch: Plain, rows: int, sequence_length: int) -> np.ndarray:
    """The batch as int64, once its form is right."""
    form = f"integers of shape [{rows}, {sequence_length}]"
    check(isinstance(batch, Tensor), "the batch should be a tensor", yours=batch, expected=form)
    whole = not (batch.is_floating_point() or batch.is_complex() or batch.dtype == torch.bool)
    check(whole, "tokens are whole numbers: the dtype should be an integer one", yours=batch, expected=form)
    check(list(batch.shape) == [rows, sequence_length], "the shape is wrong", yours=batch, expected=form)
    tokens: np.ndarray = batch.numpy().astype(np.int64)
    return tokens


def what_is_wrong(row: np.ndarray, data: np.ndarray) -> str:
    """Why a row is none of the windows that leave a target after them."""
    strange = row[~np.isin(row, data)].tolist()
    if strange:
        return f"{strange[0]} is no token of the data"
    if (row == data[-len(row) :]).all():
        return "this row is the end of the data: no token is left after it, as its target"
    return "these tokens do not stand side by side in the data, in this order"


@given(token_cases(windows=st.integers(1, 20)), st.booleans())
def test_every_row_is_a_window_of_the_data(student: Student, case: TokenCase, from_file: bool) -> None:
    """Every row is data[start : start + sequence_length], token for token, with a target left after it."""
    reply = student.call(probes.batch, case.data, case.batch_size, case.sequence_length, case.seed, from_file)
    rows = tokens_of(reply["batch"], case.batch_size, case.sequence_length)
    windows = oracle.windows(case.data.numpy().astype(np.int64), case.sequence_length)
    for row in rows:
        found = bool((windows == row).all(axis=1).any())
        check(found, what_is_wrong(row, case.data.numpy().astype(np.int64)), yours=torch.from_numpy(row))


def test_every_start_occurs_and_no_other(student: Student, seed: int) -> None:
    """Each start in range(len(data) - sequence_length) can occur, the first and the last, too, and no other."""
    for sequence_length in (1, 3, 8):
        data = permutation(sequence_length + 4, seed)
        drawn = student.call(probes.first_tokens, data, 7, sequence_length, 11, seed)
        place = {token: start for start, token in enumerate(data.tolist())}
        strange = {*drawn.flatten().tolist()} - place.keys()
        check(not strange, "a row begins with what is no token of the data", yours=sorted(strange))
        starts, right = (
            {place[token] for token in drawn.flatten().tolist()},
            {*oracle.starts(len(data), sequence_length)},
        )
        note = "a start comes that leaves no target" if starts - right else "a start never comes"
        check(starts == right, note, yours=sorted(starts), expected=f"starts {sorted(right)} in 77 draws")


def test_starts_are_uniform(student: Student, seed: int) -> None:
    """All starts are equally likely."""
    data = permutation(64 + 5, seed)
    drawn = student.call(probes.first_tokens, data, 16, 5, 400, seed)
    counts = np.array([int((drawn == token).sum()) for token in data[:64].tolist()])
    statistic = float(((counts - 100.0) ** 2 / 100.0).sum())
    low, high = chi_square_range(63)
    inside, shown = int(counts.sum()), "about 100 of 6400 draws for each of 64 starts"
    check(inside == 6400, f"{6400 - inside} of 6400 rows begin where no window may", yours=counts.tolist())
    note = f"the starts are not equally likely: one comes {counts.min()} times, one {counts.max()}"
    check(low <= statistic <= high, note, yours=counts.tolist(), expected=shown)


def test_starts_reach_all_of_a_large_file(student: Student, seed: int) -> None:
    """In a file of 25 million tokens, too, all starts are equally likely: none is left out, and no part of the file."""
    rows, length = 2**14, 3 * 2**23  # no power of two: a remainder of so many bits favours the first starts
    starts = student.call(probes.large_starts, length, rows, seed)
    check(isinstance(starts, Tensor) and starts.numel() == rows, f"there should be {rows} rows", yours=starts)
    places = starts.flatten().to(torch.int64)
    inside = bool(((places >= 0) & (places < length)).all())
    check(inside, "there is a token that is none of the file's", yours=starts)
    for where, found, cells in (
        ("in each twelfth of the file", places * 12 // length, 12),
        ("at 0, 1, 2, 3, 4 and 5 tokens after a multiple of 6", places % 6, 6),
    ):
        counts, usual = torch.bincount(found, minlength=cells), rows / cells
        low, high = chi_square_range(cells - 1)
        fits = low <= float(((counts - usual) ** 2).sum() / usual) <= high
        expected = f"about {usual:.0f} of {rows} starts {where}"
        check(fits, "some starts are likelier than others, or never come", yours=counts.tolist(), expected=expected)


def test_rows_are_independent(student: Student, seed: int) -> None:
    """The rows of one batch are drawn independently: neither equal, nor in order, nor avoiding each other."""
    data = permutation(8 + 3, seed)
    drawn = student.call(probes.first_tokens, data, 4, 3, 1600, seed)
    place = {token: start for start, token in enumerate(data.tolist())}
    starts = np.array([[place.get(token, -1) for token in row] for row in drawn.tolist()])
    check(
        bool((starts >= 0).all() and (starts < 8).all()),
        "a start is out of range",
        yours=sorted({*starts.flatten().tolist()}),
    )
    low, high = chi_square_range(63)
    for a, b in itertools.combinations(range(4), 2):
        pairs = np.bincount(8 * starts[:, a] + starts[:, b], minlength=64)
        statistic = float(((pairs - 25.0) ** 2 / 25.0).sum())
        note = f"rows {a} and {b} of a batch {relation(starts[:, a], starts[:, b])}"
        expected = "each pair of starts about 25 of 1600 times"
        check(low <= statistic <= high, note, yours=pairs.tolist(), expected=expected)


def relation(first: np.ndarray, second: np.ndarray) -> str:
    """How the starts of two rows, in many batches, are not independent."""
    if (first == second).all():
        return "are the same window, in all of 1600 batches"
    if len({*((second - first) % 8).tolist()}) == 1:
        return "begin equally far from each other, in all of 1600 batches"
    if (first != second).all():
        return "are never the same window, in 1600 batches: one start may come twice"
    if (first <= second).all() or (first >= second).all():
        return "are in order of their starts, in all of 1600 batches"
    pairs = np.bincount(8 * first + second, minlength=64).reshape(8, 8)
    alone = np.outer(pairs.sum(axis=1), pairs.sum(axis=0)) / len(first)
    if float(((pairs - alone) ** 2 / np.maximum(alone, 1e-9)).sum()) > chi_square_range(49)[1]:
        return "depend on each other: some pairs of starts are likelier than others"
    return "are not drawn from all starts alike: in one of them some come more often than others"


def test_a_small_file_fills_a_large_batch(student: Student, seed: int) -> None:
    """A start may come twice: a batch can have more rows than there are starts."""
    data = permutation(5, seed)
    reply = student.call(probes.batch, data, 40, 3, seed, False)
    tokens_of(reply["batch"], 40, 3)


@given(st.integers(0, 2**31), st.integers(1, 4))
def test_the_torch_seed_decides(student: Student, seed: int, sequence_length: int) -> None:
    """The same torch.manual_seed gives the same batches, whatever NumPy's generator does; nothing is seeded."""
    data = permutation(5000, seed)
    reply = student.call(probes.repeated, data, 8, sequence_length, seed)
    assert_equal(
        reply["again"], reply["first"], what="two batches", note="the same torch.manual_seed gave other batches"
    )
    first, second = (tokens_of(batch, 8, sequence_length) for batch in reply["first"])
    check(not bool((first == second).all()), "two calls in a row gave the same batch", yours=reply["first"][1])
    assert_equal(reply["seed"], seed, what="torch.initial_seed()", note="get_batch has set torch's seed")


@given(st.sampled_from(["meta", "cpu"]), st.booleans(), st.integers(1, 3))
def test_the_batch_is_put_on_the_device(student: Student, device: str, as_object: bool, batch_size: int) -> None:
    """The batch is on the device that was asked for, given as a string or as a torch.device."""
    reply = student.call(probes.on_device, permutation(20, 0), batch_size, 4, device, as_object)
    assert_equal(reply, [device, [batch_size, 4]], what="device and shape")


@given(token_cases(windows=st.integers(1, 9)))
def test_batch_and_data_share_no_memory(student: Student, case: TokenCase) -> None:
    """The call leaves the data as it was, and what happens to the data later does not reach the batch."""
    reply = student.call(probes.later_change, case.data, case.batch_size, case.sequence_length, case.seed)
    assert_equal(reply["data"], case.data, what="data", note="the call changed the data")
    assert_equal(reply["batch later"], reply["batch"], what="batch", note="the batch is a view of the data's memory")


@given(st.integers(0, 5), st.integers(0, 4), st.integers(1, 3))
def test_data_without_a_window_is_refused(student: Student, length: int, missing: int, batch_size: int) -> None:
    """len(data) <= sequence_length raises a ValueError or a RuntimeError instead of returning short rows."""
    sequence_length = max(1, length + missing)
    raised = student.call(probes.too_short, permutation(length, 0), batch_size, sequence_length)
    refused = bool({"ValueError", "RuntimeError"} & set(raised))
    note = f"{length} tokens hold no window of {sequence_length} with its target"
    check(refused, note, yours=raised[0] if raised else "a batch", expected="a ValueError or a RuntimeError")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell which part of a file has been read")
def test_only_the_windows_are_read(student: Student) -> None:
    """A batch from a large memory-mapped file reads the windows it needs, not the file."""
    size = 64 * 2**20
    read = student.call(probes.bytes_read, size, 4, 32)
    check(
        type(read) is int and read <= size // 8,
        "much more was read than four windows",
        yours=read,
        expected="at most a few pages",
    )
