"""memmap_tokens: token files that are mapped, not read."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.memmap_tokens import oracle
from tests.probes import memmap_tokens as probes
from tests.strategies import SEEDS, costly, rng_of
from torchkata import Student, assert_equal, check, precondition, require, same

DTYPES = st.sampled_from([np.uint16, np.int32, np.int64, np.uint8])
LENGTHS = st.integers(1, 40)


def tokens_of(length: int, dtype: type[np.integer], seed: int, largest: int = 2**63 - 1) -> Tensor:
    """Tokens from 0 up to the `largest`, or the largest that the dtype holds, which comes last."""
    most = min(largest, np.iinfo(dtype).max)
    tokens = rng_of(seed).integers(0, most, length, dtype=dtype, endpoint=True)
    tokens[-1] = most
    return torch.from_numpy(tokens)


def assert_tokens(yours: object, tokens: np.ndarray, note: str = "", mistake: str = "") -> None:
    """Demand these tokens, in their dtype."""
    assert_equal(yours, oracle.round_trip(tokens), what="tokens", note=note, mistake=mistake)


def begins_with(yours: object, tokens: np.ndarray) -> bool:
    """Whether an array begins with these tokens."""
    return isinstance(yours, np.ndarray) and same(yours[: len(tokens)], tokens)


@costly
@given(LENGTHS, DTYPES, SEEDS, st.sampled_from([2**63 - 1, 200]))
def test_tokens_come_back_in_their_dtype(
    student: Student, length: int, dtype: type[np.integer], seed: int, largest: int
) -> None:
    """What is loaded are the tokens that were saved, as an array of their dtype, in another process, too."""
    tokens = tokens_of(length, dtype, seed, largest)
    assert_tokens(student.call(probes.round_trip, tokens, 1), tokens.numpy())


@costly
@given(st.integers(2, 40), st.sampled_from([2, 3, 7]), DTYPES, SEEDS)
def test_slices_with_a_step_come_back(
    student: Student, length: int, step: int, dtype: type[np.integer], seed: int
) -> None:
    """Of tokens[::step] exactly these tokens come back, not what lies between them."""
    tokens = tokens_of(length, dtype, seed)
    assert_tokens(student.call(probes.round_trip, tokens, step), tokens.numpy()[::step])


@costly
@given(st.sampled_from(["tokens", "tokens.npy", "train.bin", "a.b.c", "tokens.npz"]), st.booleans(), SEEDS)
def test_the_file_has_the_name_that_was_given(student: Student, name: str, as_path: bool, seed: int) -> None:
    """The file is where the path says, whatever its name ends in, the path a str or a Path."""
    tokens = tokens_of(5, np.uint16, seed)
    reply = student.call(probes.named, tokens, name, as_path)
    note = 'the file should have the name that was given: np.save adds ".npy", unless it is given an open file'
    seen = 'np.save adds ".npy" to the name, unless it is given an open file' if f"{name}.npy" in reply["files"] else ""
    check(name in reply["files"], note, mistake=seen, yours=reply["files"], expected=f"a file {name}")
    assert_tokens(reply["tokens"], tokens.numpy())


@costly
@given(st.integers(2000, 5000), DTYPES, SEEDS)
def test_the_file_holds_the_tokens_as_they_are(
    student: Student, length: int, dtype: type[np.integer], seed: int
) -> None:
    """On disk there are the tokens' own bytes and a header of at most 4096 bytes."""
    tokens = tokens_of(length, dtype, seed)
    fewest, most = oracle.file_bytes(tokens.numpy())
    yours = student.call(probes.bytes_on_disk, tokens)
    note = f"{length} tokens of {tokens.element_size()} bytes are {tokens.nbytes} bytes"
    check(fewest <= yours <= most, note, yours=yours, expected=f"{fewest} to {most} bytes on disk")


@costly
@given(LENGTHS, LENGTHS, DTYPES, DTYPES, SEEDS)
def test_a_second_save_replaces_the_first(
    student: Student, length: int, other: int, dtype: type[np.integer], second: type[np.integer], seed: int
) -> None:
    """Tokens that are saved under a name that is there already take its place, of whatever length and dtype."""
    first, last = tokens_of(length, dtype, seed), tokens_of(other, second, seed + 1)
    alone, replaced = student.call(probes.saved_twice, first, last)
    with precondition("already of the first file other tokens come back"):
        assert_tokens(alone, first.numpy())
    stayed = "the tokens of the file that was there come first: it is appended to, or not written anew"
    note = "a file that was there should be replaced: nothing of it stays"
    assert_tokens(replaced, last.numpy(), note, stayed if begins_with(replaced, first.numpy()) else "")


@costly
@given(LENGTHS, DTYPES, SEEDS)
def test_the_file_can_not_be_changed_through_the_array(
    student: Student, length: int, dtype: type[np.integer], seed: int
) -> None:
    """An assignment to what was loaded raises or stays in memory; the file keeps its tokens."""
    tokens = tokens_of(length, dtype, seed)
    before, after = student.call(probes.assigned_to, tokens)
    with precondition("already before an assignment other tokens come back"):
        assert_tokens(before, tokens.numpy())
    written = "what is assigned to the array changes the file: map it for reading only"
    assert_tokens(after, tokens.numpy(), mistake=written)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not report which parts of a file have been read")
def test_only_what_is_used_is_read(student: Student) -> None:
    """Loading reads no tokens: after three of 8 million have been used, hardly any of the file is in memory."""
    count = 2**23
    size = 2 * count
    yours = student.call(probes.bytes_in_memory, count)
    require(type(yours) is int, f"what is loaded should be an array of {count} tokens", yours=yours)
    few = yours in oracle.bytes_in_memory(size)
    expected = f"a few pages, of a file of {size} bytes"
    check(few, "much more is in memory than three tokens", yours=yours, expected=expected)
