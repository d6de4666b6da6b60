"""Tests of the channel to a worker: values arrive unchanged, and hostile bytes raise a channel error."""

import contextlib
import itertools
import os
import resource
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from grader.sandbox.inside import channel, encoding
from grader.sandbox.inside.channel import Channel, Closed, Malformed, compute_reply_limit, decode_reply
from grader.sandbox.inside.encoding import decode, encode
from torchkata.inside.reply import MAX_TEXT, Reply
from torchkata.inside.values import MAX_AXES, MAX_DEPTH, MAX_INT_KEYS, MAX_KEY, Opaque, to_plain

START = b"\x82\xa7outcome\xa8returned\xa5value"  # the beginning of a reply, up to the value
SCALARS = st.none() | st.booleans() | st.integers(-(2**255), 2**255 - 1) | st.floats() | st.text()
SHAPES = npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
KEYS = st.text(max_size=5) | st.integers(-MAX_KEY, MAX_KEY)
BYTES = SHAPES.flatmap(lambda shape: npst.arrays(np.uint8, (*shape, 16)))


def pack_frame(outline: bytes, contents: bytes = b"") -> bytes:
    """Return the frame for a message with this outline and these contents."""
    return encoding.LENGTH.pack(len(outline)) + outline + contents


def make_tensor(dtype: str, raw: np.ndarray[Any, Any]) -> torch.Tensor:
    """Return a tensor with the given dtype and bytes. Each element is read from the first bytes of a row."""
    kind: torch.dtype = getattr(torch, dtype)
    bits = torch.from_numpy(raw[..., : kind.itemsize].copy())
    if kind == torch.bool:
        bits = bits & 1
    return bits.view(kind)[..., 0] if bits.numel() else torch.empty(raw.shape[:-1], dtype=kind)


PLAIN_TENSORS = st.builds(make_tensor, st.sampled_from(encoding.TORCH_DTYPES), BYTES)
PLAIN_ARRAYS = st.sampled_from(encoding.NUMPY_DTYPES).flatmap(lambda dtype: npst.arrays(dtype, SHAPES))
PLAIN = st.recursive(
    SCALARS | PLAIN_TENSORS | PLAIN_ARRAYS | st.builds(Opaque, st.text(max_size=20)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_are_received_unchanged(value: Any) -> None:
    value = to_plain(value)
    arrived = decode_reply(encode(Reply("returned", value))).value
    if isinstance(value, torch.Tensor):
        assert value.flatten().view(torch.uint8).equal(arrived.flatten().view(torch.uint8)) or value.numel() == 0
        assert (value.dtype, value.shape) == (arrived.dtype, arrived.shape)
    else:
        assert encode(arrived) == encode(value)


@given(st.binary(max_size=200))
def test_random_bytes_are_reported_as_malformed_reply(frame: bytes) -> None:
    for message in (frame, pack_frame(b"\x93" + frame)):
        with pytest.raises(Malformed):
            decode_reply(message)


def make_reply(value: object, contents: bytes = b"") -> bytes:
    """Return a reply with the given value, which may be invalid, and the given tensor data."""
    return pack_frame(msgspec.msgpack.encode({"outcome": "returned", "value": value}), contents)


def make_header(*header: Any) -> msgspec.msgpack.Ext:
    """Return the value that describes a tensor with the given dtype and shape."""
    return msgspec.msgpack.Ext(encoding.TENSOR, msgspec.msgpack.encode(header))


def nest(depth: int) -> list[Any]:
    """Return a deeply nested list."""
    return [nest(depth - 1)] if depth else []


BAD_SHAPES = ([2], [-1], [2**40, 2**40], [1] * 9, [0, *[2**39] * 7], [2**40] * 100_000, 1)  # for four bytes
MALFORMED = [
    *(make_reply(make_header("float32", shape), bytes(4)) for shape in BAD_SHAPES),
    make_reply(make_header("object", [1]), bytes(4)),
    make_reply(make_header(), bytes(4)),
    make_reply(make_header("float32", [1]), bytes(8)),  # four bytes that belong to no tensor
    *map(make_reply, (b"bytes", msgspec.msgpack.Ext(7, b""), msgspec.msgpack.Ext(1, b""))),
    *map(make_reply, ({None: 2}, {1.5: 2}, {True: 2}, {2**63: 2}, dict.fromkeys(range(MAX_INT_KEYS + 1)))),
    make_reply(nest(MAX_DEPTH + 5)),
    pack_frame(START + b"\x91" * 100_000 + b"\xc0"),  # nested too deeply for the decoder
]


ANY_SHAPE: list[list[int]] = [[], [0], [1] * 8, [1] * 9, [1] * 65, [0, *[2**39] * 7], [-1, -1], [2**63], [2**64 - 1, 0]]
MARKERS = (0, 1, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, *range(0xC0, 0xE0), 0xFF)  # bytes with a meaning in msgpack
LENGTHS = (0, 1, 2**16 - 1, 2**16, 2**20, 2**20 + 1, 2**26, 2**31 - 1, 2**31, 2**32 - 1)


def make_hostile() -> Iterator[bytes]:
    """Yield frames that are designed to break the decoder."""
    pack = msgspec.msgpack.encode
    exts = [msgspec.msgpack.Ext(code, data) for code in (1, 2, 3, 4, -1, 127) for data in (b"", b"\x90", b"\xff" * 300)]
    names = ("float32", "bool", "object", "bfloat16")
    described = itertools.product((encoding.TENSOR, encoding.ARRAY), names, ANY_SHAPE)
    exts += [msgspec.msgpack.Ext(code, pack([name, shape])) for code, name, shape in described]
    for ext, contents in itertools.product(exts, (b"", bytes(24))):
        yield pack_frame(START + pack(ext), contents)
        yield pack_frame(START + b"\x81" + pack(ext) + b"\xc0", contents)  # an extension as the key of a dict
        yield pack_frame(START + b"\x81\x91" + pack(ext) + b"\xc0", contents)  # inside a list as the key of a dict
    yield from (pack_frame(START + bytes([kind]) + b"\xff" * 4) for kind in (0xC6, 0xDB, 0xDD, 0xDF))  # long values
    yield pack_frame(START + b"\x91" * 5000 + b"\xc0")
    yield pack_frame(START + b"\x81\x91" * 2000 + b"\xc0")
    yield pack_frame(START + b"\xd6\xff\xff\xff\xff\xff")  # a timestamp
    yield pack_frame(b"\x82\xa7outcome\xa8returned\xa5error\xa4\xff\xfe\xed\xa0")  # invalid UTF-8
    yield pack_frame(pack({"outcome": "returned", "value": 1, "line": 2**64 - 1, "file": "\0" * 900}))


HOSTILE = [*make_hostile()]


@st.composite
def changed_frames(draw: st.DrawFn) -> bytes:
    """Draw a valid or hostile frame in which a few bytes are replaced. The length of the outline is correct."""
    valid = PLAIN.map(lambda value: encode(Reply("returned", to_plain(value))))
    frame = draw(valid | st.sampled_from(HOSTILE))
    (length,) = encoding.LENGTH.unpack_from(frame)
    outline, contents = frame[encoding.LENGTH.size :][:length], frame[encoding.LENGTH.size + length :]
    lengths = st.sampled_from(LENGTHS).map(lambda number: number.to_bytes(4, "big"))
    markers = st.sampled_from(MARKERS).map(lambda marker: bytes([marker]))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(outline)))
        added = draw(markers | lengths | st.binary(max_size=8))
        outline = outline[:place] + added + outline[place + draw(st.integers(0, 4)) :]
    return pack_frame(outline, contents[: draw(st.none() | st.integers(0, len(contents)))])


def test_hostile_frames_decode_or_are_reported_malformed() -> None:
    for frame in HOSTILE:
        with contextlib.suppress(Malformed):
            assert isinstance(decode_reply(frame), Reply)


def test_changed_frames_decode_or_are_reported_malformed() -> None:
    found: Counter[str] = Counter()

    @settings(max_examples=500, derandomize=True)
    @given(changed_frames())
    def decode_frame(frame: bytes) -> None:
        try:
            assert isinstance(decode_reply(frame), Reply)
        except Malformed as error:
            found[str(error)] += 1
        else:
            found["a reply"] += 1

    decode_frame()
    assert found["a reply"] > 30, "too few frames with small changes were decoded"
    assert len(found) > 3


@pytest.mark.parametrize("reply", MALFORMED, ids=map(str, range(len(MALFORMED))))
def test_malformed_reply_is_reported(reply: bytes) -> None:
    with pytest.raises(Malformed):
        decode_reply(reply)


def test_decoded_bool_tensor_has_only_valid_bytes() -> None:
    assert decode_reply(make_reply(make_header("float32", [1]), bytes(4))).value.item() == 0
    bools = decode_reply(make_reply(make_header("bool", [2]), b"\x02\x00")).value
    assert bools.to(torch.uint8).tolist() == [1, 0]


def test_strings_in_forged_reply_are_truncated() -> None:
    forged = {"outcome": "raised", "error": "two\nlines " * 50_000, "file": "f" * 5000, "source": "\x1b[2J" * 5000}
    reply = decode_reply(pack_frame(msgspec.msgpack.encode(forged)))
    assert all(len(text) <= MAX_TEXT and text.isprintable() for text in (reply.error, reply.file, reply.source))
    assert reply.error.startswith("two lines two lines")


@pytest.mark.parametrize("make", [torch.zeros, np.zeros])
def test_array_with_too_many_axes_becomes_a_placeholder(make: Callable[[list[int]], Any]) -> None:
    assert to_plain(make([1] * MAX_AXES)).shape == (1,) * MAX_AXES
    placeholder = to_plain(make([1] * (MAX_AXES + 1)))
    assert str(placeholder.type_name).endswith("of 9 axes")
    assert decode(encode(placeholder)) == placeholder


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({1, 2}, "set"),
        (b"x", "bytes"),
        (1j, "complex"),
        (np.int64(1), "np.int64(1)"),
        (np.bool_(True), "np.bool(True)"),
        (2**255, "int of more than 255 bits"),
        ({(0, 1): 2, "a": 3}, "dict with keys of type tuple"),
        ({True: 2}, "dict with keys of type bool"),
        ({2**63: 2}, "dict with too many or too large ints as keys"),
        (dict.fromkeys(range(MAX_INT_KEYS + 1)), "dict with too many or too large ints as keys"),
    ],
)
def test_placeholder_says_why_value_cannot_pass(value: object, name: str) -> None:
    assert (plain := to_plain(value)) == Opaque(name) or str(plain.type_name) == name
    assert str(to_plain([{"a": (value,)}])[0]["a"][0].type_name) == name
    assert decode_reply(encode(Reply("returned", plain))).value == plain


def test_invalid_text_in_key_is_replaced() -> None:
    assert decode(encode(to_plain({"\ud800": "\ud800"}))) == {"?": "?"}


def test_deepest_list_becomes_a_placeholder() -> None:
    value = to_plain(nest(MAX_DEPTH + 1))
    for _ in range(MAX_DEPTH):
        (value,) = value
    assert str(value.type_name) == "list inside 12 others"


def test_reply_size_limit_grows_with_request_size(shared_pair: tuple[Channel, Channel]) -> None:
    ours, theirs = shared_pair
    sent = ours.send({"args": [torch.zeros(2**18)]})
    answer = Reply("returned", torch.zeros(2**22))
    theirs.send(answer)
    assert len(ours.receive(most=compute_reply_limit(sent))) > 2**24
    theirs.send(answer)
    with pytest.raises(Malformed, match="too large"):
        ours.receive(most=compute_reply_limit(100))
    assert compute_reply_limit(2**30) == encoding.MAX_FRAME


BALLOONS = {
    "empty lists": START + b"\xdd" + (2**26).to_bytes(4, "big") + b"\x90" * 2**26,
    "nothing, many times": START + b"\xdd" + (2**26).to_bytes(4, "big") + b"\xc0" * 2**26,
    "a list that claims to be long": START + b"\xdd\xff\xff\xff\xff",
    "a dict that claims to be long": START + b"\xdf\xff\xff\xff\xff",
    "a text that claims to be long": START + b"\xdb\xff\xff\xff\xff",
    "a list of almost the longest outline": START + b"\xdd" + (10**6).to_bytes(4, "big") + b"\x90" * 10**6,
    "one tensor's bytes for many": START
    + b"\xdc\xff\xff"
    + msgspec.msgpack.encode(make_header("uint8", [2**26])) * 65535,
}


@pytest.mark.parametrize("name", BALLOONS)
def test_decoding_stays_below_memory_cap(name: str) -> None:
    frame = pack_frame(BALLOONS[name], bytes(2**26) if "tensor" in name else b"")
    bound = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + 256 * 2**20, bound[1]))
    try:
        if name == "a list of almost the longest outline":
            assert len(decode_reply(frame).value) == 10**6
        else:
            with pytest.raises(Malformed, match=r"\((?!MemoryError)"):
                decode_reply(frame)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, bound)


@pytest.fixture
def pair() -> Iterator[tuple[Channel, socket.socket]]:
    """Return a channel and the bare socket at its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), theirs


@pytest.mark.parametrize(
    ("frame", "error", "words"),
    [
        (b"\x05\x00\x00\x00ab", Closed, None),
        (encoding.LENGTH.pack(encoding.MAX_FRAME + 1), Malformed, "too large"),
        (encoding.LENGTH.pack(channel.IN_SHARED_MEMORY + 5), Malformed, None),
    ],
    ids=["cut", "too large", "no shared memory"],
)
def test_invalid_frame_raises_channel_error(
    pair: tuple[Channel, socket.socket], frame: bytes, error: type[Exception], words: str | None
) -> None:
    ours, theirs = pair
    theirs.sendall(frame)
    theirs.close()
    with pytest.raises(error, match=words):
        ours.receive()


@pytest.fixture
def shared_pair() -> Iterator[tuple[Channel, Channel]]:
    """Return both ends of a connection that uses shared memory."""
    ours, theirs = socket.socketpair()
    shared = channel.create_shared_memory(encoding.MAX_FRAME)
    assert shared is not None
    with ours, theirs:
        yield Channel(ours, channel.map_descriptor(os.dup(shared))), Channel(theirs, channel.map_descriptor(shared))


def test_large_frame_passes_through_shared_memory(shared_pair: tuple[Channel, Channel]) -> None:
    ours, theirs = shared_pair
    assert theirs.shared is not None
    theirs.send({"args": torch.arange(1e6)})  # more than a socket buffers, before the other end has read anything
    received = ours.receive()
    theirs.shared[:] = bytes(len(theirs.shared))
    assert torch.equal(decode(received)["args"], torch.arange(1e6))


def test_shared_memory_cannot_be_resized() -> None:
    descriptor = channel.create_shared_memory(encoding.MAX_FRAME)
    assert descriptor is not None
    for size in (0, 2 * encoding.MAX_FRAME):
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, size)
    os.close(descriptor)
