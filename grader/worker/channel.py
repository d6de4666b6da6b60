"""Frames of plain values over a socket: a length, then msgpack in which a tensor is dtype, shape and raw bytes.

Nothing is unpickled and no object of the sender's comes to life here: whatever arrives is a plain value or a fault.
"""

import math
import socket
import struct
import time
from typing import Any

import msgspec
import torch
from torch import Tensor

from kata.exercise import Reply
from kata.values import MAX_DEPTH, Opaque, Plain

MAX_FRAME = 64 * 2**20
TENSOR, OPAQUE = 1, 2
LENGTH = struct.Struct("<I")
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.complex128),
    )
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class ChannelError(Exception):
    """No usable frame came."""


class Closed(ChannelError):
    """The other side is gone."""


class Late(ChannelError):
    """The frame was not complete by the deadline."""


class Malformed(ChannelError):
    """The frame is not what the protocol allows."""


class Channel:
    """One end of a connection. Frames are whole or an error."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection

    def send(self, message: object, deadline: float | None = None) -> None:
        """Send one frame. Raises Closed, or Late if the other side does not read."""
        frame = encode(message)
        try:
            self.wait_until(deadline)
            self.socket.sendall(LENGTH.pack(len(frame)) + frame)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None

    def receive(self, deadline: float | None = None) -> bytes:
        """The next frame, undecoded. Raises Closed, Late or Malformed."""
        (length,) = LENGTH.unpack(self.read(LENGTH.size, deadline))
        if length > MAX_FRAME:
            raise Malformed("the answer is too large")
        return self.read(length, deadline)

    def expect_silence(self) -> None:
        """Nothing may have come unasked. Raises Malformed, or Closed."""
        self.socket.settimeout(0)
        try:
            early = self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            raise Closed from None
        if not early:
            raise Closed
        raise Malformed("your code sent an answer that nobody had asked for")

    def read(self, size: int, deadline: float | None) -> bytes:
        """So many bytes, all before the deadline."""
        parts = bytearray()
        while len(parts) < size:
            try:
                self.wait_until(deadline)
                part = self.socket.recv(min(size - len(parts), 2**20))
            except TimeoutError:
                raise Late from None
            except OSError:
                raise Closed from None
            if not part:
                raise Closed
            parts += part
        return bytes(parts)

    def wait_until(self, deadline: float | None) -> None:
        """Let the next operation on the socket last until `deadline`, a time of `time.monotonic()`."""
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        self.socket.settimeout(left)


def encode(message: object) -> bytes:
    """One message of plain values, dataclasses and bytes."""
    return msgspec.msgpack.encode(message, enc_hook=extension_of)


def extension_of(value: object) -> msgspec.msgpack.Ext:
    """Tensors and opaque values as msgpack's extension types."""
    if isinstance(value, Tensor):
        name = NAMES.get(value.dtype)
        if name is None:
            return extension_of(Opaque(f"{value.dtype} tensor"))
        header = msgspec.msgpack.encode([name, list(value.shape)])
        raw = value.contiguous().flatten().view(torch.uint8).numpy().tobytes() if value.numel() else b""
        return msgspec.msgpack.Ext(TENSOR, LENGTH.pack(len(header)) + header + raw)
    if isinstance(value, Opaque):
        return msgspec.msgpack.Ext(OPAQUE, value.type_name.encode("utf-8", "replace")[:200])
    raise TypeError(f"a {type(value).__name__} is no plain value")


def decode(frame: bytes) -> Any:
    """A message from a trusted sender."""
    return msgspec.msgpack.decode(frame, ext_hook=from_extension)


def decode_reply(frame: bytes) -> Reply:
    """A reply from anyone. Raises Malformed and nothing else."""
    try:
        reply = msgspec.convert(decode(frame), Reply)
        check_plain(reply.value)
    except (msgspec.MsgspecError, ValueError, RecursionError, UnicodeError, OverflowError, MemoryError) as error:
        raise Malformed(f"the answer is malformed ({type(error).__name__})") from None
    return reply


def from_extension(code: int, data: memoryview) -> Tensor | Opaque:
    """Undo `extension_of`. Raises ValueError."""
    if code == OPAQUE:
        return Opaque(bytes(data[:200]).decode("utf-8", "replace"))
    if code != TENSOR or len(data) < LENGTH.size:
        raise ValueError("unknown extension")
    (length,) = LENGTH.unpack(data[: LENGTH.size])
    name, shape = msgspec.msgpack.decode(data[LENGTH.size : LENGTH.size + length], type=tuple[str, list[int]])
    raw = bytes(data[LENGTH.size + length :])
    dtype = DTYPES.get(name)
    if dtype is None or len(shape) > 64 or any(not 0 <= size < 2**40 for size in shape):
        raise ValueError("no such dtype or shape")
    if len(raw) != math.prod(shape) * dtype.itemsize:
        raise ValueError("the bytes do not fill the shape")
    if not raw:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(bytearray(raw), dtype=torch.uint8 if dtype == torch.bool else dtype)
    return (flat != 0 if dtype == torch.bool else flat).reshape(shape)


def check_plain(value: Plain, depth: int = 0) -> None:
    """Demand what `kata.values.plain` makes. Raises ValueError."""
    if isinstance(value, list) and depth <= MAX_DEPTH:
        for item in value:
            check_plain(item, depth + 1)
    elif isinstance(value, dict) and depth <= MAX_DEPTH and all(type(key) is str for key in value):
        for item in value.values():
            check_plain(item, depth + 1)
    elif value is not None and type(value) not in (bool, int, float, str, Tensor, Opaque):
        raise ValueError(f"a {type(value).__name__} is no plain value")
