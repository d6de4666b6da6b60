"""get_batch: random windows of a token file."""

import itertools
import sys
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array
from torch import Tensor

from reference.get_batch import oracle
from tests.probes import get_batch as probes
from tests.statistics import chi_square_range
from tests.strategies import TokenCase, permutation, token_cases
from torchkata import Plain, Student, assert_equal, check, require, same, show

Demand: TypeAlias = Callable[..., None]  # check or require


def tokens_of(returned: Plain, rows: int, sequence_length: int, demand: Demand = require) -> Array:
    """The batch as int64, once its form is right: some tests are about that, and the others need it."""
    form = f"integers of shape [{rows}, {sequence_length}]"
    batch = oracle.inputs(returned, rows, sequence_length)
    demand(isinstance(batch, Tensor), "the batch should be a tensor", yours=returned, expected=form)
    whole = not (batch.is_floating_point() or batch.is_complex() or batch.dtype == torch.bool)
    demand(whole, mistake="tokens are whole numbers: the dtype should be an integer one", yours=returned, expected=form)
    short = batch.ndim == 2 and len(batch) == rows and batch.shape[1] < sequence_length
    seen = "the rows are too short, as where they run over the end of the data" if short else ""
    note = "" if short else "the shape is wrong"
    demand(list(batch.shape) == [rows, sequence_length], note, mistake=seen, yours=returned, expected=form)
    tokens: Array = batch.numpy().astype(np.int64)
    return tokens


def drawn_starts(
    student: Student,
    starts: int,
    rows: int,
    sequence_length: int,
    calls: int,
    seed: int,
    demand: Demand = require,
) -> Array | None:
    """The starts of so many batches, numbered from 0; None for batches of another form, if that is no mistake."""
    data = permutation(starts + sequence_length, seed)
    drawn = student.call(probes.first_tokens, data, rows, sequence_length, calls, seed)
    if not isinstance(drawn, Tensor) or list(drawn.shape) != [calls, rows]:
        tokens_of(drawn, rows, sequence_length)
        return None
    tokens, allowed = data.numpy(), oracle.starts(len(data), sequence_length)
    place = np.full(int(tokens.max()) + 2, -1)
    place[tokens] = np.arange(len(tokens))
    places = place[drawn.numpy().clip(-1, len(place) - 1)]
    came = np.unique(places).tolist()
    demand(
        {*came} <= {*allowed}, mistake="a start is out of range", yours=came, expected=f"starts from 0 to {starts - 1}"
    )
    varied = len(allowed) == 1 or not same(drawn, drawn[:1].expand(calls, rows))
    demand(varied, mistake=f"every call gives the same batch, where {len(allowed)} starts are possible", yours=drawn[0])
    numbers: Array = np.searchsorted(allowed, places)
    return numbers


def what_is_wrong(row: Array, data: Array) -> str:
    """Why a row is none of the windows that leave a target after them."""
    strange = row[~np.isin(row, data)].tolist()
    if strange:
        return f"{strange[0]} is no token of the data{what_is_left(row, data)}"
    if (row == data[-len(row) :]).all():
        return "this row is the end of the data: no token is left after it, as its target"
    return "these tokens do not stand side by side in the data, in this order"


def what_is_left(row: Array, data: Array) -> str:
    """Of a window whose tokens went through an integer of fewer bits, which one; "" for any other row."""
    windows = np.lib.stride_tricks.sliding_window_view(data, len(row))
    for bits in (16, 8):
        alike = ((windows - row) % 2**bits == 0).all(axis=1) & bool((abs(row) < 2**bits).all())
        if alike.any():
            whole = windows[alike][0]
            return f", but what is left of {whole[whole != row][0]} in {bits} bits"
    return ""


@given(token_cases(windows=st.integers(1, 20)), st.booleans())
def test_every_row_is_a_window_of_the_data(student: Student, case: TokenCase, from_file: bool) -> None:
    """Every row is data[start : start + sequence_length], token for token, with a target left after it."""
    reply = student.call(probes.batch, case.data, case.batch_size, case.sequence_length, case.seed, from_file)
    data = case.data.numpy().astype(np.int64)
    rows = tokens_of(reply["batch"], case.batch_size, case.sequence_length, check)
    for row, own in zip(rows, reply["batch"], strict=True):
        check(oracle.is_row(row, data), mistake=what_is_wrong(row, data), yours=own)


def test_every_start_occurs_and_no_other(student: Student, seed: int) -> None:
    """Each start in range(len(data) - sequence_length) can occur, the first and the last, too, and no other."""
    for sequence_length in (1, 3, 8):
        starts = drawn_starts(student, 4, 1, sequence_length, 80, seed, check)
        if starts is None:
            return
        came, expected = sorted({*starts.flatten().tolist()}), "starts 0, 1, 2 and 3 in 80 draws"
        wanted = len(oracle.starts(4 + sequence_length, sequence_length))
        check(len(came) == wanted, "some start never comes", yours=came, expected=expected)


def test_starts_are_uniform(student: Student, seed: int) -> None:
    """All starts are equally likely."""
    starts = drawn_starts(student, 64, 1, 5, 3200, seed)
    if starts is None:
        return
    counts = np.bincount(starts.flatten(), minlength=len(oracle.starts(64 + 5, 5)))
    low, high = chi_square_range(len(counts) - 1)
    shown = "about 50 of 3200 draws for each of 64 starts"
    note = f"the starts are not equally likely: one comes {counts.min()} times, one {counts.max()}"
    check(oracle.are_even(counts, (low, high)), note, yours=counts.tolist(), expected=shown)


def test_starts_reach_all_of_a_large_file(student: Student, seed: int) -> None:
    """In a file of 25 million tokens, too, all starts are equally likely: none is left out, and no part of the file."""
    rows, length = 2**14, 3 * 2**23  # no power of two: a remainder of so many bits favours the first starts
    reply = student.call(probes.large_starts, length, rows, seed)
    starts = tokens_of(reply, rows, 1)[:, 0]
    inside = bool(((starts >= 0) & (starts < length)).all())
    counts = {"in each twelfth of the file": oracle.twelfths(starts, length), "modulo 6": oracle.sixths(starts)}
    yours = {name: came.tolist() for name, came in counts.items()} if inside else reply
    even = oracle.are_everywhere(starts, length, chi_square_range(11), chi_square_range(5))
    demand, note = check, "some starts are likelier than others, or never come"
    if not inside:
        demand, note = require, "a token is none of the file's"
    expected = f"{rows} starts, about as many in each twelfth, and of each remainder"
    demand(even, note, yours=yours, expected=expected)


def test_rows_are_independent(student: Student, seed: int) -> None:
    """The rows of one batch are drawn independently: neither equal, nor in order, nor avoiding each other."""
    starts = drawn_starts(student, 8, 4, 3, 1600, seed)
    if starts is None:
        return
    shares = np.bincount(starts.flatten(), minlength=len(oracle.starts(8 + 3, 3))) / starts.size
    came = max(2, int(np.count_nonzero(shares)))
    low, high = chi_square_range((came - 1) ** 2)[0], chi_square_range(came**2 - 1)[1]
    for i, j in itertools.combinations(range(4), 2):
        a, b = starts[:, i], starts[:, j]
        counts = oracle.pairs(a, b, len(shares))
        expected = "each start of one with each of the other, about equally often"
        note = f"rows {i} and {j} of a batch {relation(a, b)}"
        check(oracle.are_free(a, b, shares, (low, high)), mistake=note, yours=counts.tolist(), expected=expected)


def relation(first: Array, second: Array) -> str:
    """How the starts of two rows, in many batches, are not independent."""
    calls = f"{len(first)} batches"
    if (first == second).all():
        return f"are the same window, in all of {calls}"
    if len({*((second - first) % 8).tolist()}) == 1:
        return f"begin equally far from each other, in all of {calls}"
    if (first != second).all():
        return f"are never the same window, in {calls}: one start may come twice"
    if (first <= second).all() or (first >= second).all():
        return f"are in order of their starts, in all of {calls}"
    return "depend on each other, or one of them begins in some places more often than the other"


def test_a_small_file_fills_a_large_batch(student: Student, seed: int) -> None:
    """A start may come twice: a batch can have more rows than there are starts."""
    data = permutation(5, seed)
    reply = student.call(probes.batch, data, 40, 3, seed, False)
    tokens_of(reply["batch"], oracle.rows(40, 5, 3), 3, check)


@given(st.integers(0, 2**31), st.integers(1, 4))
def test_the_torch_seed_decides(student: Student, seed: int, sequence_length: int) -> None:
    """After torch.manual_seed come the same batches, whatever NumPy does; two in a row differ, nothing is seeded."""
    data = permutation(5000, seed)
    reply = student.call(probes.repeated, data, 8, sequence_length, seed)
    first, *again = reply["batches"]
    assert_equal(reply["seed"], seed, what="torch.initial_seed()", mistake="get_batch has set torch's seed")
    one, other = (tokens_of(batch, 8, sequence_length) for batch in first)
    check(not bool((one == other).all()), mistake="two calls in a row gave the same batch", yours=first[1])
    for (how, repeats), batches in zip(oracle.repeats().items(), again, strict=True):
        note = f"after the same torch.manual_seed, {how}, come other batches"
        check(same(batches, first) is repeats, mistake=note, yours=batches, expected=f"again {show(first)}")


@given(st.sampled_from(["meta", "cpu"]), st.booleans(), st.integers(1, 3))
def test_the_batch_is_put_on_the_device(student: Student, device: str, as_object: bool, batch_size: int) -> None:
    """The batch is on the device that was asked for, given as a string or as a torch.device."""
    reply = student.call(probes.on_device, permutation(20, 0), batch_size, 4, device, as_object)
    assert_equal(reply, [oracle.place(device), [batch_size, 4]], what="device and shape")


@given(token_cases(windows=st.integers(1, 9)))
def test_batch_and_data_share_no_memory(student: Student, case: TokenCase) -> None:
    """The call leaves the data as it was, and what happens to the data later does not reach the batch."""
    reply = student.call(probes.later_change, case.data, case.batch_size, case.sequence_length, case.seed)
    assert_equal(reply["data"], case.data, what="data", mistake="the call changed the data")
    assert_equal(reply["batch later"], reply["batch"], what="batch", mistake="the batch is a view of the data's memory")


@given(st.integers(0, 5), st.integers(0, 4), st.integers(1, 3))
def test_data_without_a_window_is_refused(student: Student, length: int, missing: int, batch_size: int) -> None:
    """len(data) <= sequence_length raises a ValueError or a RuntimeError instead of returning short rows."""
    sequence_length = max(1, length + missing)
    raised = student.call(probes.too_short, permutation(length, 0), batch_size, sequence_length)
    refused = bool({"ValueError", "RuntimeError"} & set(raised))
    came = f"{raised[0]} is raised" if raised else "get_batch raised nothing"
    note = f"{length} tokens hold no window of {sequence_length} with its target, and {came}"
    wanted = oracle.is_refused(length, sequence_length)
    yours = raised[0] if raised else "a batch"
    check(refused is wanted, mistake=note, yours=yours, expected="a ValueError or a RuntimeError")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell which part of a file has been read")
def test_only_the_windows_are_read(student: Student) -> None:
    """A batch from a large memory-mapped file reads the windows it needs, not the file."""
    size = 64 * 2**20
    read = student.call(probes.bytes_read, size, 4, 32)
    few = type(read) is int and read in oracle.bytes_read(size)
    expected = f"at most a few pages, of a file of {size} bytes"
    check(few, "much more was read than four windows", yours=read, expected=expected)
