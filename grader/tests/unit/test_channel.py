"""The channel: what goes in comes out, and nothing but a fault comes of nonsense."""

import contextlib
import math
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.sandbox import channel
from grader.sandbox.channel import Channel, Closed, Late, Malformed, compute_reply_limit, decode, decode_reply, encode
from scripts import fuzz_decoder
from torchkata.seam.reply import MAX_TEXT, Reply
from torchkata.seam.values import MAX_AXES, MAX_DEPTH, Opaque, to_plain

START = fuzz_decoder.START
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text()


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Any dtype, from no element to a few, any bits."""
    dtype = getattr(torch, draw(st.sampled_from(channel.TORCH_DTYPES)))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    size = torch.empty(shape, dtype=dtype).nbytes
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype == torch.bool:
        raw = bytes(byte & 1 for byte in raw)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    """Any dtype, from no element to a few, any bits."""
    dtype, shape = np.dtype(draw(st.sampled_from(channel.NUMPY_DTYPES))), draw(st.lists(st.integers(0, 3), max_size=3))
    size = math.prod(shape) * dtype.itemsize
    raw = draw(st.binary(min_size=size, max_size=size))
    bits = bytes(byte & 1 for byte in raw) if dtype.name == "bool" else raw
    return np.frombuffer(bytearray(bits), dtype=dtype).reshape(shape)


PLAIN = st.recursive(
    SCALARS | tensors() | arrays() | st.builds(Opaque, st.text(max_size=20)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_arrive_unchanged(value: Any) -> None:
    value = to_plain(value)
    arrived = decode_reply(encode(Reply("returned", value))).value
    if isinstance(value, torch.Tensor):
        assert value.flatten().view(torch.uint8).equal(arrived.flatten().view(torch.uint8)) or value.numel() == 0
        assert (value.dtype, value.shape) == (arrived.dtype, arrived.shape)
    else:
        assert encode(arrived) == encode(value)


@given(st.binary(max_size=200))
def test_random_bytes_are_a_malformed_reply_and_raise_nothing_else(frame: bytes) -> None:
    for message in (frame, fuzz_decoder.pack_frame(b"\x93" + frame)):
        with pytest.raises(Malformed):
            decode_reply(message)


def test_frames_made_by_hand_and_their_mutations_are_replies_or_malformed() -> None:
    found = fuzz_decoder.fuzz(0, 20_000)
    assert found.total() == 20_000
    assert found["a reply"] > 500, "so that what is changed little is looked at, too"
    assert len(found) > 5


@pytest.mark.parametrize(
    "header",
    [
        ["float32", [2]],  # too few bytes
        ["float32", [-1]],
        ["float32", [2**40, 2**40]],
        ["float32", [1] * 9],
        ["float32", [0, *[2**39] * 7]],
        ["float32", [2**40] * 100_000],
        ["object", [1]],
        ["float32", 1],
        [],
    ],
)
def test_a_tensor_whose_header_does_not_fit_its_bytes_is_malformed(header: list[Any]) -> None:
    with pytest.raises(Malformed):
        decode_reply(reply_with(header, bytes(4)))


def reply_with(header: Any, contents: bytes) -> bytes:
    """A reply whose value is a tensor of this dtype and shape."""
    ext = msgspec.msgpack.Ext(channel.TENSOR, msgspec.msgpack.encode(header))
    return fuzz_decoder.pack_frame(msgspec.msgpack.encode({"outcome": "returned", "value": ext}), contents)


def test_a_reply_with_bytes_that_belong_to_no_tensor_is_malformed() -> None:
    assert decode_reply(reply_with(["float32", [1]], bytes(4))).value.item() == 0
    with pytest.raises(Malformed):
        decode_reply(reply_with(["float32", [1]], bytes(8)))


@pytest.mark.parametrize(
    "value", [b"bytes", msgspec.msgpack.Ext(7, b""), msgspec.msgpack.Ext(1, b""), {1: 2}, {"deep": [[]]}]
)
def test_a_reply_with_anything_but_plain_values_is_malformed(value: Any) -> None:
    if value == {"deep": [[]]}:
        for _ in range(MAX_DEPTH + 3):
            value = [value]
    with pytest.raises(Malformed):
        decode_reply(fuzz_decoder.pack_frame(msgspec.msgpack.encode({"outcome": "returned", "value": value})))


def test_a_reply_that_is_nested_too_deeply_is_malformed() -> None:
    with pytest.raises(Malformed):
        decode_reply(fuzz_decoder.pack_frame(START + b"\x91" * 100_000 + b"\xc0"))


def test_a_bool_tensor_arrives_with_bytes_0_and_1_only() -> None:
    arrived = decode_reply(reply_with(["bool", [2]], b"\x02\x00")).value
    assert arrived.to(torch.uint8).tolist() == [1, 0]


def test_the_texts_of_a_reply_are_short_lines_whoever_has_made_it() -> None:
    forged = {"outcome": "raised", "error": "two\nlines " * 50_000, "file": "f" * 5000, "source": "\x1b[2J" * 5000}
    reply = decode_reply(fuzz_decoder.pack_frame(msgspec.msgpack.encode(forged)))
    assert all(len(text) <= MAX_TEXT and text.isprintable() for text in (reply.error, reply.file, reply.source))
    assert reply.error.startswith("two lines two lines")


def test_a_value_with_too_many_axes_is_none_that_crosses() -> None:
    for values in (torch.zeros, np.zeros):
        assert to_plain(values([1] * MAX_AXES)).shape == (1,) * MAX_AXES
        assert to_plain(values([1] * (MAX_AXES + 1))).type_name.endswith("of 9 axes")


def test_a_reply_may_be_large_where_much_was_sent(sharing: tuple[Channel, Channel]) -> None:
    ours, theirs = sharing
    sent = ours.send({"args": [torch.zeros(2**18)]})
    answer = Reply("returned", torch.zeros(2**22))
    theirs.send(answer)
    assert len(ours.receive(most=compute_reply_limit(sent))) > 2**24
    theirs.send(answer)
    with pytest.raises(Malformed, match="too large"):
        ours.receive(most=compute_reply_limit(100))
    assert compute_reply_limit(2**30) == channel.MAX_FRAME


BALLOONS = {
    "empty lists": START + b"\xdd" + (2**26).to_bytes(4, "big") + b"\x90" * 2**26,
    "nothing, many times": START + b"\xdd" + (2**26).to_bytes(4, "big") + b"\xc0" * 2**26,
    "a list that claims to be long": START + b"\xdd\xff\xff\xff\xff",
    "a dict that claims to be long": START + b"\xdf\xff\xff\xff\xff",
    "a text that claims to be long": START + b"\xdb\xff\xff\xff\xff",
    "a list of almost the longest outline": START + b"\xdd" + (10**6).to_bytes(4, "big") + b"\x90" * 10**6,
    "one tensor's bytes for many": START
    + b"\xdc\xff\xff"
    + msgspec.msgpack.encode(msgspec.msgpack.Ext(channel.TENSOR, msgspec.msgpack.encode(["uint8", [2**26]]))) * 65535,
}


@pytest.mark.parametrize("name", BALLOONS)
def test_decoding_a_reply_takes_no_more_memory_than_the_cap(name: str) -> None:
    frame = fuzz_decoder.pack_frame(BALLOONS[name], bytes(2**26) if "tensor" in name else b"")
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
    """A channel and the other side's bare socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), theirs


def test_a_frame_that_arrives_byte_by_byte_is_timed_as_a_whole(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair

    def drip() -> None:
        theirs.sendall(channel.LENGTH.pack(1000))
        for _ in range(1000):
            try:
                theirs.sendall(b"x")
            except OSError:
                return
            time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    with pytest.raises(Late):
        ours.receive(time.monotonic() + 0.3)


def test_a_channel_that_ends_within_a_frame_is_closed(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"\x05\x00\x00\x00ab")
    theirs.close()
    with pytest.raises(Closed):
        ours.receive()


def test_a_frame_that_is_too_large_is_malformed(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(channel.LENGTH.pack(channel.MAX_FRAME + 1))
    with pytest.raises(Malformed, match="too large"):
        ours.receive()


@pytest.fixture
def sharing() -> Iterator[tuple[Channel, Channel]]:
    """Both ends of a connection that share memory."""
    ours, theirs = socket.socketpair()
    shared = channel.create_shared_memory(channel.MAX_FRAME)
    assert shared is not None
    with ours, theirs:
        yield Channel(ours, channel.map_descriptor(os.dup(shared))), Channel(theirs, channel.map_descriptor(shared))


def test_a_large_frame_is_passed_in_shared_memory(sharing: tuple[Channel, Channel]) -> None:
    ours, theirs = sharing
    assert theirs.shared is not None
    theirs.send({"args": torch.arange(1e6)})  # more than a socket holds: nobody has read it yet
    received = ours.receive()
    theirs.shared[:] = bytes(len(theirs.shared))
    assert torch.equal(decode(received)["args"], torch.arange(1e6))


def test_shared_memory_of_a_channel_can_be_neither_shrunk_nor_grown() -> None:
    descriptor = channel.create_shared_memory(channel.MAX_FRAME)
    assert descriptor is not None
    for size in (0, 2 * channel.MAX_FRAME):
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, size)
    os.close(descriptor)


def test_a_frame_in_shared_memory_that_does_not_exist_is_malformed(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(channel.LENGTH.pack(channel.IN_SHARED_MEMORY + 5))
    with pytest.raises(Malformed):
        ours.receive()


@given(st.lists(st.binary(max_size=64), max_size=4))
def test_arbitrary_bytes_on_a_channel_are_a_frame_or_a_channel_error(parts: list[bytes]) -> None:
    line, far = socket.socketpair()
    with line, far:
        far.sendall(b"".join(parts))
        far.close()
        with contextlib.suppress(channel.ChannelError):
            assert isinstance(decode_reply(Channel(line).receive(time.monotonic() + 60)), Reply)
