"""Property tests for get_batch: random windows of a token file."""

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
from tests.sampling import chi_square_range
from tests.strategies import TokenCase, permutation, token_cases
from torchkata import Plain, Student, Text, asking, assert_equal, check, literal, require, same, show

Demand: TypeAlias = Callable[..., None]  # check or require


PINNED = Text("every copy with 'pinned': True and 'non_blocking': True")
HOW = {  # when a call should return the same batches
    "as before": Text("as before"),
    "with np.random in another state": Text("with np.random in another state"),
    "with random in another state": Text("with random in another state"),
}


def read_tokens(returned: Plain, rows: int, sequence_length: int, demand: Demand = require) -> Array:
    """Check the batch with `demand`, and return it as int64. Check its dtype only if `demand` is `check`."""
    form = Text("integers of shape [{rows}, {length}]", rows=rows, length=sequence_length)
    batch = oracle.read_batch(returned, rows, sequence_length)
    demand(isinstance(batch, Tensor), Text("the batch is not a tensor"), yours=returned, expected=form)
    whole = not (batch.is_floating_point() or batch.is_complex() or batch.dtype == torch.bool)
    demand(
        whole or demand is require,
        mistake=Text("tokens are integers, but the dtype is not an integer dtype"),
        yours=returned,
        expected=form,
    )
    short = batch.ndim == 2 and len(batch) == rows and batch.shape[1] < sequence_length
    seen = Text("the rows are too short: do they run past the end of the data?") if short else ""
    note = Text("the shape is wrong") if demand is require and not short else ""
    demand(list(batch.shape) == [rows, sequence_length], note, mistake=seen, yours=returned, expected=form)
    tokens: Array = batch.numpy().astype(np.int64)
    return tokens


def draw_starts(
    student: Student,
    starts: int,
    rows: int,
    sequence_length: int,
    calls: int,
    seed: int,
    demand: Demand = require,
) -> Array | None:
    """Return the start positions of `calls` batches, or None if a known mistake changes the shape of the batches."""
    data = permutation(starts + sequence_length, seed)
    drawn = student.call(probes.first_tokens, data, rows, sequence_length, calls, seed)
    if not isinstance(drawn, Tensor) or list(drawn.shape) != [calls, rows]:
        read_tokens(drawn, rows, sequence_length)
        is_mistaken = not same(oracle.read_batch(drawn, rows, sequence_length), drawn)
        require(is_mistaken, Text("a batch had another shape when get_batch returned it"), yours=drawn)
        return None
    tokens, allowed = data.numpy(), oracle.starts(len(data), sequence_length)
    position = np.full(int(tokens.max()) + 2, -1)
    position[tokens] = np.arange(len(tokens))
    places = position[drawn.numpy().clip(-1, len(position) - 1)]
    if demand is require:  # only one test checks the range
        inside = ((places >= 0) & (places < starts)).all(axis=1)
        places = places[inside] if inside.mean() > 0.5 else places
    came = np.unique(places).tolist()
    demand(
        {*came} <= {*allowed},
        mistake=Text("a start position is out of range"),
        yours=came,
        expected=Text("start positions from 0 to {last}", last=starts - 1),
    )
    numbers: Array = np.searchsorted(allowed, places)
    return numbers


def explain_row(row: Array, data: Array) -> Text:
    """Explain why a row is not a window followed by a target."""
    strange = row[~np.isin(row, data)].tolist()
    if strange:
        return Text("{token} is not a token of the data{left}", token=strange[0], left=explain_conversion(row, data))
    if (row == data[-len(row) :]).all():
        return Text("this row is the end of the data: no target token follows it")
    return Text("these tokens are not consecutive in the data")


def explain_conversion(row: Array, data: Array) -> Text | str:
    """Return which token was converted to a smaller integer dtype, or ""."""
    windows = np.lib.stride_tricks.sliding_window_view(data, len(row))
    for bits in (32, 16, 8):
        names = [name for name in (f"int{bits}", f"uint{bits}") if (windows.astype(name) == row).all(axis=1).any()]
        if names:
            whole = windows[(windows.astype(names[0]) == row).all(axis=1)][0]
            return Text(": it is {token} converted to {dtype}", token=whole[whole != row][0], dtype="/".join(names))
    return ""


@given(token_cases(windows=st.integers(5, 20)), st.booleans())
def test_rows_are_windows_of_data(student: Student, case: TokenCase, from_file: bool) -> None:
    """The batch is an integer tensor: batch_size rows data[start : start + sequence_length], followed by a token."""
    reply = student.call(probes.batch, case.data, case.batch_size, case.sequence_length, case.seed, from_file)
    data = case.data.numpy().astype(np.int64)
    batch_size = oracle.rows(case.batch_size, len(data), case.sequence_length)
    rows = read_tokens(reply["batch"], batch_size, case.sequence_length, check)
    expected = Text("{length} consecutive tokens of the data, and another one after them", length=case.sequence_length)
    for i, row in enumerate(rows):
        if not oracle.is_row(row, data):
            yours = Text("row {i}: {row}", i=i, row=show(reply["batch"][i]))
            check(False, mistake=explain_row(row, data), yours=yours, expected=expected)


def test_every_valid_start_position_occurs(student: Student, seed: int) -> None:
    """All start positions in range(len(data) - sequence_length) occur, and no others."""
    for number, sequence_length in ((4, 2), (4, 3), (4, 8)):
        starts = draw_starts(student, number, 2, sequence_length, 40, seed, check)
        if starts is None:
            return
        came, expected = (
            sorted({*starts.flatten().tolist()}),
            Text("start positions 0 to {last} in 80 draws", last=number - 1),
        )
        wanted = len(oracle.starts(number + sequence_length, sequence_length))
        check(len(came) == wanted, Text("some start position never occurs"), yours=came, expected=expected)


def test_start_positions_are_uniform(student: Student, seed: int) -> None:
    """All start positions are equally likely."""
    starts = draw_starts(student, 24, 2, 5, 4800, seed)  # few, so that halved probabilities are visible
    if starts is None:
        return
    drawn = np.concatenate([starts[::2, 0], starts[1::2, 1]])  # a fixed row could depend on the order of the rows
    counts = np.bincount(drawn, minlength=len(oracle.starts(24 + 5, 5)))
    low, high = chi_square_range(len(counts) - 1, oracle.LOOKS)
    shown = Text("each of 24 start positions about 200 times in 4800 draws: one row of each batch of two")
    note = Text(
        "the start positions are not equally likely: one occurs {few} times, another {many} times",
        few=counts.min(),
        many=counts.max(),
    )
    check(oracle.are_even(counts, (low, high)), note, yours=counts.tolist(), expected=shown)


def test_start_positions_are_uniform_in_large_file(student: Student, seed: int) -> None:
    """In a file of 25 million tokens, all start positions are equally likely, and every part of the file is used."""
    rows, length = 2**16, 3 * 2**23  # not a power of two, so 28 random bits modulo this favor the first starts
    reply = student.call(probes.large_starts, length, rows, seed)
    starts = read_tokens(reply, rows, 1)[:, 0]
    inside = bool(((starts >= 0) & (starts < length)).all())
    counts = {
        "in each twelfth of the file": oracle.count_twelfths(starts, length),
        "modulo 6": oracle.count_remainders(starts),
    }
    yours = {name: came.tolist() for name, came in counts.items()} if inside else reply
    even = oracle.are_even_everywhere(starts, length, *(chi_square_range(n, oracle.LOOKS) for n in (11, 5)))
    demand, note = check, Text("some start positions are more likely than others, or never occur")
    if not inside:
        demand, note = require, Text("a token is not in the file")
    expected = Text("{rows} start positions, about as many in each twelfth and with each remainder", rows=rows)
    demand(even, note, yours=yours, expected=expected)


def test_rows_are_independent(student: Student, seed: int) -> None:
    """All rows of a batch are drawn alike and independently: not copied, sorted or drawn without replacement."""
    starts = draw_starts(student, 8, 4, 3, 1600, seed)
    if starts is None:
        return
    require(bool((starts != starts[0]).any()), Text("every call returns the same batch"))
    shares = np.bincount(starts.flatten(), minlength=len(oracle.starts(8 + 3, 3))) / starts.size
    came = max(2, int(np.count_nonzero(shares)))
    low, high = chi_square_range((came - 1) ** 2)[0], chi_square_range(came**2 - 1)[1]
    for i, j in itertools.combinations(range(4), 2):
        a, b = starts[:, i], starts[:, j]
        counts = oracle.count_pairs(a, b, len(shares))
        expected = Text("every pair of start positions about equally often")
        note = Text("rows {i} and {j} of a batch {relation}", i=i, j=j, relation=describe_relation(a, b))
        check(oracle.are_independent(a, b, shares, (low, high)), mistake=note, yours=counts.tolist(), expected=expected)


def describe_relation(first: Array, second: Array) -> Text:
    """Describe how the start positions of two rows depend on each other."""
    calls = Text("{count} batches", count=len(first))
    if (first == second).all():
        return Text("are the same window, in all of {calls}", calls=calls)
    if len({*((second - first) % 8).tolist()}) == 1:
        return Text("are the same distance apart, in all of {calls}", calls=calls)
    if (first != second).all():
        return Text("are never the same window, in {calls}: start positions may repeat", calls=calls)
    if (first <= second).all() or (first >= second).all():
        return Text("are sorted by start position, in all of {calls}", calls=calls)
    return Text("depend on each other, or have different distributions of start positions")


def test_start_positions_may_repeat(student: Student, seed: int) -> None:
    """One start position is enough, as they may repeat. Batches are integers of shape (batch_size, sequence_length)."""
    data = permutation(4, seed)
    reply = student.call(probes.batch, data, 40, 3, seed, False)
    read_tokens(reply["batch"], oracle.rows(40, 4, 3), 3, check)


@given(st.integers(1000, 2**31), st.integers(2, 5))  # not the small numbers that a student's code may set as the seed
def test_torch_seed_determines_result(student: Student, seed: int, sequence_length: int) -> None:
    """The same torch.manual_seed gives the same batches, consecutive batches differ, and get_batch sets no seed."""
    data = permutation(5000, seed)
    reply = student.call(probes.repeated, data, 8, sequence_length, seed)
    first, *again = reply["batches"]
    assert_equal(reply["seed"], seed, what="torch.initial_seed()", mistake=Text("get_batch sets the torch seed"))
    one, other = (read_tokens(batch, 8, sequence_length) for batch in first)
    check(not bool((one == other).all()), mistake=Text("two consecutive calls return the same batch"), yours=first[1])
    for place, ((how, repeats), batches) in enumerate(zip(oracle.repeats().items(), again, strict=True), start=2):
        note = Text(
            "the same torch.manual_seed gives different batches, {how}: compare printed results 1 and {place}",
            how=HOW[how],
            place=place,
        )
        if repeats:
            assert_equal(batches, first, what=Text("batches"), mistake=note)
        check(same(batches, first) is repeats)


@given(st.sampled_from(["meta", "cpu"]), st.booleans(), st.integers(1, 4), st.integers(1, 4))
def test_batch_is_on_device(
    student: Student, device: str, as_object: bool, batch_size: int, sequence_length: int
) -> None:
    """The batch is on `device`, a string or a torch.device, and its shape is right even for one row or one token."""
    place, shape = student.call(probes.on_device, permutation(20, 0), batch_size, sequence_length, device, as_object)
    require(place != "no tensor", Text("the batch is not a tensor"), yours=place)
    assert_equal(place, oracle.expected_device(device), what=Text("device"))
    like = torch.zeros(shape, dtype=torch.int64) if isinstance(shape, list) else shape
    batch = oracle.read_batch(like, batch_size, sequence_length)
    own = list(batch.shape) if isinstance(batch, Tensor) else batch
    assert_equal(own, [batch_size, sequence_length], what=Text("shape"))


@given(st.sampled_from(["cuda", "cuda:0"]), st.booleans(), st.integers(1, 3))
def test_copy_to_gpu_is_pinned(student: Student, device: str, as_object: bool, batch_size: int) -> None:
    """A batch for a (simulated) GPU is pinned and then copied with non_blocking=True. One for the CPU is not pinned."""
    data = permutation(20, 0)
    reply = student.call(probes.copies_to_gpu, data, batch_size, device, as_object)
    check(
        reply["is there"],
        mistake=Text("the batch is not on `device`, which is {device} here", device=repr(device)),
        expected=device,
    )
    is_unpinned = not all(copy["pinned"] for copy in reply["copies"])
    if is_unpinned and (device, as_object) != ("cuda", False):
        named = student.call(probes.copies_to_gpu, data, batch_size, "cuda", False)
        given = f"torch.device({device!r})" if as_object else repr(device)
        string_only = Text(
            "the batch is pinned for 'cuda', but not for {device}: compare torch.device(device).type with 'cuda'",
            device=given,
        )
        with asking(probes.write_copies(data, device, as_object, literal)):
            is_pinned = bool(named["copies"]) and all(copy["pinned"] for copy in named["copies"])
            check(not is_pinned, mistake=string_only, yours=reply["copies"], expected=PINNED)
    size = sum(copy["size"] for copy in reply["copies"])
    expected = Text("copies of {batch_size} tokens to the GPU", batch_size=batch_size * 4)
    check(size >= batch_size * 4, Text("the batch is not copied to the GPU"), yours=size, expected=expected)
    for copy in reply["copies"]:
        unpinned = Text(
            "the batch is copied to the GPU from memory that is not pinned: copy the result of pin_memory()"
        )
        check(copy["pinned"], mistake=unpinned, yours=reply["copies"], expected=PINNED)
        blocking = Text("the copy to the GPU blocks the CPU: pass non_blocking=True")
        check(copy["non_blocking"], mistake=blocking, yours=reply["copies"], expected=PINNED)
    always = Text("on a machine with a GPU, the batch is pinned even if `device` is the CPU: let `device` decide")
    check(not reply["pinned on CPU"], mistake=always, yours="on_cpu: True", expected="on_cpu: False")


@given(token_cases(windows=st.integers(2, 9), least_rows=1))
def test_batch_does_not_share_memory_with_data(student: Student, case: TokenCase) -> None:
    """The call does not modify the data, and later changes to the data do not change the batch."""
    reply = student.call(probes.later_change, case.data, case.batch_size, case.sequence_length, case.seed)
    assert_equal(reply["data"], case.data, what="data", mistake=Text("the call modifies the data"))
    assert_equal(
        reply["batch later"], reply["batch"], what="batch", mistake=Text("the batch shares memory with the data")
    )


@given(st.integers(0, 5), st.integers(0, 4), st.integers(1, 3))
def test_too_short_data_raises(student: Student, length: int, missing: int, batch_size: int) -> None:
    """If len(data) <= sequence_length, get_batch raises a ValueError or RuntimeError and returns no short rows."""
    sequence_length = max(1, length + missing)
    raised = student.call(probes.too_short, permutation(length, 0), batch_size, sequence_length)
    refused = bool({"ValueError", "RuntimeError"} & set(raised))
    came = Text("{error} is raised", error=raised[0]) if raised else Text("no error is raised")
    note = Text(
        "{length} tokens are too few for a window of {window} and its target, but {came}",
        length=length,
        window=sequence_length,
        came=came,
    )
    wanted = oracle.is_refused(length, sequence_length)
    yours = raised[0] if raised else Text("a batch")
    check(refused is wanted, mistake=note, yours=yours, expected=Text("a ValueError or a RuntimeError"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not report which parts of a file have been read")
def test_only_windows_are_read(student: Student) -> None:
    """Drawing a batch from a large memory-mapped file reads only the windows, not the whole file."""
    size = 64 * 2**20
    read = student.call(probes.bytes_read, size, 4, 32)
    few = type(read) is int and read in oracle.bytes_read(size)
    expected = Text("at most a few pages of a file of {size} bytes", size=size)
    check(few, Text("much more data than four windows was read"), yours=read, expected=expected)
