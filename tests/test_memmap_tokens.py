"""Property tests for memmap_tokens: token files that are mapped instead of read."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.memmap_tokens import oracle
from tests.own_answers import holds
from tests.probes import memmap_tokens as probes
from tests.strategies import SEEDS, costly, rng_of
from torchkata import Plain, Student, Text, assert_equal, check, precondition, require, same

OWN = Text("tokens (expected: those of a new file)")
DTYPES = st.sampled_from([np.uint16, np.int32, np.int64, np.uint8])
LENGTHS = st.integers(1, 40)
NAMES = [
    ("tokens", "tokens.npy"),
    ("tokens.npy", "tokens.other"),
    ("train.bin", "train.bin.npy"),
    ("a.b.c", "a.b.d"),
    ("tokens.npz", "tokens.other"),
]


def make_tokens(length: int, dtype: type[np.integer], seed: int, largest: int = 2**63 - 1) -> Tensor:
    """Return random tokens up to `largest` or the dtype's maximum, which is also the last token."""
    limit = min(largest, np.iinfo(dtype).max)
    tokens = rng_of(seed).integers(0, limit, length, dtype=dtype, endpoint=True)
    tokens[-1] = limit
    return torch.from_numpy(tokens)


def assert_tokens(yours: Plain, tokens: np.ndarray, note: Text | str = "", mistake: Text | str = "") -> None:
    """Assert that `yours` contains the expected tokens in their dtype."""
    if isinstance(yours, np.ndarray) and yours.ndim == 1 and not mistake:
        extra = len(yours) - len(tokens)
        if extra > 0 and same(yours[extra:], tokens):
            mistake = Text(
                "more numbers come before the tokens (here {extra}): is the header read as tokens?", extra=extra
            )
    assert_equal(yours, oracle.round_trip(tokens), what="tokens", note=note, mistake=mistake)


def save_to_new_file(student: Student, tokens: np.ndarray) -> Plain:
    """Save tokens to a new file and return the loaded tokens. Call this first, because failures show the last call."""
    with precondition():
        return student.call(probes.round_trip, torch.from_numpy(tokens.copy()), 1)


def assert_like_new_file(yours: Plain, own: Plain, tokens: np.ndarray, mistake: Text | str = "") -> None:
    """Assert that `yours` are the expected tokens, or the student's `own` tokens from a new file if those are wrong."""
    if holds(assert_tokens, own, tokens) or holds(assert_tokens, yours, tokens):
        assert_tokens(yours, tokens, mistake=mistake)
    else:
        require(own is not None, Text("load_tokens returns None"), yours=own)
        assert_equal(yours, own, what=OWN, mistake=mistake)


def begins_with(yours: object, tokens: np.ndarray) -> bool:
    """Return whether an array begins with the given tokens."""
    return isinstance(yours, np.ndarray) and same(yours[: len(tokens)], tokens)


@costly
@given(LENGTHS, DTYPES, SEEDS, st.sampled_from([2**63 - 1, 200]))
def test_round_trip_preserves_tokens_and_dtype(
    student: Student, length: int, dtype: type[np.integer], seed: int, largest: int
) -> None:
    """Loading returns the saved tokens as an array of their dtype, even in another process."""
    tokens = make_tokens(length, dtype, seed, largest)
    assert_tokens(student.call(probes.round_trip, tokens, 1), tokens.numpy())


@costly
@given(st.integers(2, 40), st.sampled_from([2, 3, 7]), DTYPES, SEEDS)
def test_strided_slice_round_trips(
    student: Student, length: int, step: int, dtype: type[np.integer], seed: int
) -> None:
    """After saving tokens[::step], exactly those tokens are loaded, without the ones in between."""
    tokens = make_tokens(length, dtype, seed)
    part = tokens.numpy()[::step]
    own = save_to_new_file(student, part)
    assert_like_new_file(student.call(probes.round_trip, tokens, step), own, part)


@costly
@given(st.sampled_from(NAMES), st.booleans(), SEEDS)
def test_file_is_written_to_given_path(student: Student, names: tuple[str, str], as_path: bool, seed: int) -> None:
    """Tokens are saved to and loaded from exactly the given path (str or Path), and other files do not change."""
    name, beside = names
    tokens = make_tokens(5, np.uint16, seed)
    own = save_to_new_file(student, tokens.numpy())
    reply = student.call(probes.named, tokens, name, beside, as_path)
    note = Text('the file does not have the given name: np.save appends ".npy" to a name, but not to an open file')
    seen = (
        Text('np.save appends ".npy" to the name: give it an open file instead')
        if f"{name}.npy" in reply["files"]
        else ""
    )
    check(name in reply["files"], note, mistake=seen, yours=reply["files"], expected=Text("a file {name}", name=name))
    assert_like_new_file(reply["tokens"], own, tokens.numpy())
    lost = Text(
        'after other tokens are saved to "{beside}", those at "{name}" can no longer be loaded',
        beside=beside,
        name=name,
    )
    expected = Text("the first tokens")
    check(same(reply["later"], reply["tokens"]), mistake=lost, yours=reply["later"], expected=expected)
    lost = Text('saving to "{name}" destroys or changes the tokens at "{beside}"', name=name, beside=beside)
    first = reply["beside at first"]
    check(same(reply["beside"], first), mistake=lost, yours=reply["beside"], expected="array([0, 1])")


@costly
@given(st.integers(2000, 5000), DTYPES, SEEDS)
def test_file_stores_tokens_in_their_dtype(student: Student, length: int, dtype: type[np.integer], seed: int) -> None:
    """The file consists of a header of at most 4096 bytes and the tokens in their dtype."""
    tokens = make_tokens(length, dtype, seed)
    fewest, most = oracle.file_bytes(tokens.numpy())
    yours = student.call(probes.bytes_on_disk, tokens)
    note = Text(
        "{length} tokens of {size} bytes are {all} bytes", length=length, size=tokens.element_size(), all=tokens.nbytes
    )
    check(
        fewest <= yours <= most,
        note,
        yours=Text("{bytes} bytes", bytes=yours),
        expected=Text("{fewest} to {most} bytes on disk", fewest=fewest, most=most),
    )


@costly
@given(LENGTHS, LENGTHS, DTYPES, DTYPES, SEEDS)
def test_second_save_overwrites_first(
    student: Student, length: int, other: int, dtype: type[np.integer], second: type[np.integer], seed: int
) -> None:
    """Saving to an existing path overwrites the old tokens, regardless of their number and dtype."""
    first, last = make_tokens(length, dtype, seed), make_tokens(other, second, seed + 1)
    own = save_to_new_file(student, last.numpy())
    replaced = student.call(probes.saved_twice, first, last)
    stayed = Text("the old tokens come first: the file is appended to or not replaced")
    remains = Text("the end of the old tokens remains: truncate the file before you write")
    has_old_tokens = begins_with(replaced, first.numpy()) and not same(first, last)
    mistake = stayed if has_old_tokens else remains if begins_with(replaced, last.numpy()) else ""
    assert_like_new_file(replaced, own, last.numpy(), mistake)


@costly
@given(st.integers(2, 40), DTYPES, SEEDS)
def test_modifying_array_does_not_change_file(
    student: Student, length: int, dtype: type[np.integer], seed: int
) -> None:
    """Assigning to the loaded array either raises an error or changes only memory, but never the file."""
    tokens = make_tokens(length, dtype, seed)
    with precondition():
        before, after = student.call(probes.assigned_to, tokens)
    require(
        isinstance(before, np.ndarray) and before.size > 0, Text("load_tokens does not return an array"), yours=before
    )
    written = Text("assigning to the array changes the file: map it read-only")
    if holds(assert_tokens, before, tokens.numpy()):
        assert_tokens(after, tokens.numpy(), mistake=written)
    else:
        assert_equal(after, before, what=OWN, mistake=written)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not report which parts of a file have been read")
def test_only_used_tokens_are_read(student: Student) -> None:
    """Loading reads no tokens. After three of 8 million are accessed, almost none of the file is in memory."""
    count = 2**23
    size = 2 * count
    reply = student.call(probes.bytes_in_memory, count)
    is_array = isinstance(reply, dict)
    require(is_array, Text("load_tokens does not return an array of {count} tokens", count=count), yours=reply)
    yours = reply["bytes"]
    few = yours in oracle.bytes_in_memory(size)
    expected = Text("a few pages of the tokens' {size} bytes", size=size)
    copied = Text(
        "the array uses the memory of a bytes object, into which read() or a slice of an mmap copies every token: pass "
        "the mmap itself to np.frombuffer, or use np.memmap"
    )
    seen = Text("{bytes} bytes in memory", bytes=yours)
    check(reply["memory"] != "bytes", mistake=copied, yours=seen, expected=expected)
    check(
        few,
        Text("much more data than three tokens is in memory"),
        yours=seen,
        expected=expected,
    )
