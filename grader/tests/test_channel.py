"""The channel: what goes in comes out, and nothing but a fault comes of nonsense."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.worker import channel
from grader.worker.channel import Channel, Closed, Late, Malformed, decode, decode_reply, encode
from kata.compare import same
from kata.exercise import Reply
from kata.values import MAX_DEPTH, Opaque, plain

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text()


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Any dtype, from no element to a few, any bits."""
    dtype = draw(st.sampled_from(sorted(channel.DTYPES.values(), key=str)))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    size = torch.empty(shape, dtype=dtype).nbytes
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype == torch.bool:
        raw = bytes(byte & 1 for byte in raw)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)


PLAIN = st.recursive(
    SCALARS | tensors() | st.builds(Opaque, st.text(max_size=20)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_arrive_as_they_were_sent(value: Any) -> None:
    value = plain(value)
    arrived = decode_reply(encode(Reply("returned", value))).value
    if isinstance(value, torch.Tensor):
        assert value.flatten().view(torch.uint8).equal(arrived.flatten().view(torch.uint8)) or value.numel() == 0
        assert (value.dtype, value.shape) == (arrived.dtype, arrived.shape)
    else:
        assert encode(arrived) == encode(value)


@given(st.binary(max_size=200))
def test_random_bytes_are_malformed_and_nothing_else(frame: bytes) -> None:
    with pytest.raises(Malformed):
        decode_reply(b"\x93" + frame)


@given(PLAIN, st.integers(0, 400), st.integers(0, 255))
def test_a_damaged_reply_is_a_reply_or_malformed(value: Any, place: int, byte: int) -> None:
    frame = bytearray(encode(Reply("returned", plain(value))))
    frame[place % len(frame)] = byte
    with contextlib.suppress(Malformed):
        assert isinstance(decode_reply(bytes(frame)), Reply)


@pytest.mark.parametrize(
    "header",
    [
        ["float32", [2]],  # too few bytes
        ["float32", [-1]],
        ["float32", [2**40, 2**40]],
        ["float32", [1] * 65],
        ["object", [1]],
        ["float32", 1],
        [],
    ],
)
def test_tensors_that_lie_about_themselves(header: list[Any]) -> None:
    packed = msgspec.msgpack.encode(header)
    ext = msgspec.msgpack.Ext(channel.TENSOR, channel.LENGTH.pack(len(packed)) + packed + bytes(4))
    with pytest.raises(Malformed):
        decode_reply(msgspec.msgpack.encode({"outcome": "returned", "value": ext}))


@pytest.mark.parametrize(
    "value", [b"bytes", msgspec.msgpack.Ext(7, b""), msgspec.msgpack.Ext(1, b""), {1: 2}, {"deep": [[]]}]
)
def test_what_is_no_plain_value(value: Any) -> None:
    if value == {"deep": [[]]}:
        for _ in range(MAX_DEPTH + 3):
            value = [value]
    with pytest.raises(Malformed):
        decode_reply(msgspec.msgpack.encode({"outcome": "returned", "value": value}))


def test_nesting_without_end() -> None:
    with pytest.raises(Malformed):
        decode_reply(b"\x82\xa7outcome\xa8returned\xa5value" + b"\x91" * 100_000 + b"\xc0")


def test_a_bool_is_0_or_1() -> None:
    packed = msgspec.msgpack.encode(["bool", [2]])
    ext = msgspec.msgpack.Ext(channel.TENSOR, channel.LENGTH.pack(len(packed)) + packed + b"\x02\x00")
    arrived = decode_reply(msgspec.msgpack.encode({"outcome": "returned", "value": ext})).value
    assert arrived.to(torch.uint8).tolist() == [1, 0]


@pytest.fixture
def pair() -> Iterator[tuple[Channel, socket.socket]]:
    """A channel and the other side's bare socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), theirs


def test_frames_cross(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    sent = {"args": [torch.arange(6.0).reshape(2, 3), None, "text"]}
    threading.Thread(target=Channel(theirs).send, args=[sent]).start()
    assert same(decode(ours.receive()), sent)


def test_a_frame_in_drops_is_late_as_a_whole(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair

    def drip() -> None:
        theirs.sendall(channel.LENGTH.pack(1000))
        for _ in range(20):
            try:
                theirs.sendall(b"x")
            except OSError:
                return
            time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    began = time.monotonic()
    with pytest.raises(Late):
        ours.receive(began + 0.3)
    assert time.monotonic() - began < 0.9


def test_a_cut_line(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"\x05\x00\x00\x00ab")
    theirs.close()
    with pytest.raises(Closed):
        ours.receive()


def test_a_frame_too_large(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(channel.LENGTH.pack(channel.MAX_FRAME + 1))
    with pytest.raises(Malformed, match="too large"):
        ours.receive()
