"""Frames of plain values over a socket: a length, then a message.

A message is msgpack in which a tensor or an array is its dtype and shape, then the bytes of all of them in their order.
Nothing is unpickled and no object of the sender's comes to life here: whatever arrives is a plain value or a fault.
A large frame lies in memory that both sides have mapped, and only its length goes over the socket. That memory is
sealed at its size, so that neither side can pull it away under the other, and is copied once before it is looked at.
"""

import fcntl
import math
import mmap
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import numpy as np

from torchkata.seam.reply import Reply
from torchkata.seam.values import MAX_AXES, MAX_DEPTH, Opaque, Plain, is_array, is_tensor

MAX_FRAME = 64 * 2**20
MAX_OUTLINE = 2**20  # of a reply: as Python objects it takes up to 64 times as much memory
UNASKED, FOR_A_BYTE = 2**23, 16  # bytes that a reply may have for none that it was sent, and more for each of those
LARGE = 2**16  # bytes from which a frame is left in shared memory
IN_SHARED_MEMORY = 2**31  # added to the length
SEALS = 1033, 0x0002 | 0x0004 | 0x0001  # F_ADD_SEALS: neither shrink nor grow, and no further seals
TENSOR, OPAQUE, ARRAY = 1, 2, 3
SIMPLE = (bool, int, float, str, Opaque)
LENGTH = struct.Struct("<I")
OF_NUMPY = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
OF_TORCH = (*OF_NUMPY, "bfloat16", "float8_e4m3fn", "float8_e5m2")


class ChannelError(Exception):
    """No usable frame came."""


class Closed(ChannelError):
    """The other side is gone."""


class Late(ChannelError):
    """The frame was not complete by the deadline."""


class Malformed(ChannelError):
    """The frame is not what the protocol allows."""


@dataclass
class Due:
    """When a whole frame must be there, a time of `time.monotonic()`, and what may put that off."""

    time: float | None
    more: Callable[[], float]

    def put_off(self) -> bool:
        """Whether there are more seconds."""
        seconds = self.more()
        if self.time is None or seconds <= 0:
            return False
        self.time += seconds
        return True


class Channel:
    """One end of a connection. Frames are whole or an error."""

    def __init__(self, connection: socket.socket, shared: mmap.mmap | None = None) -> None:
        self.socket = connection
        self.shared = shared

    def close(self) -> None:
        """Hang up."""
        self.socket.close()
        if self.shared is not None:
            self.shared.close()

    def send(self, message: object, deadline: float | None = None) -> int:
        """Send one frame; how many bytes it has. Raises Closed, or Late if the other side does not read."""
        frame = encode(message)
        header = size = len(frame)
        if self.shared is not None and LARGE <= len(frame) <= MAX_FRAME:
            self.shared[: len(frame)] = frame
            header, frame = len(frame) + IN_SHARED_MEMORY, b""
        try:
            self.wait_until(deadline)
            self.socket.sendall(LENGTH.pack(header) + frame)
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None
        return size

    def receive(
        self, deadline: float | None = None, more: Callable[[], float] = lambda: 0.0, most: int = MAX_FRAME
    ) -> bytes:
        """The next frame, of at most so many bytes, undecoded; when time is up, `more` may give further seconds.

        Raises Closed, Late or Malformed.
        """
        due = Due(deadline, more)
        (length,) = LENGTH.unpack(self.read(LENGTH.size, due))
        shared = length >= IN_SHARED_MEMORY
        length %= IN_SHARED_MEMORY
        if length > most:
            raise Malformed("the answer is too large")
        if not shared:
            return self.read(length, due)
        if self.shared is None:
            raise Malformed("the answer is malformed (no shared memory)")
        return self.shared[:length]

    def send_descriptor(self, descriptor: int) -> None:
        """Hand over what a file descriptor stands for; it follows a frame that says so. Raises Closed."""
        try:
            socket.send_fds(self.socket, [b"d"], [descriptor])
        except OSError:
            raise Closed from None

    def receive_descriptor(self) -> int:
        """One that the other side has handed over. Raises Malformed."""
        _, descriptors, _, _ = socket.recv_fds(self.socket, 1, 1)
        if not descriptors:
            raise Malformed("no file descriptor came")
        return descriptors[0]

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

    def read(self, size: int, due: "Due") -> bytes:
        """So many bytes, all before they are due."""
        parts = bytearray()
        while len(parts) < size:
            try:
                self.wait_until(due.time)
                part = self.socket.recv(min(size - len(parts), 2**20))
            except TimeoutError:
                if not due.put_off():
                    raise Late from None
                continue
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


def most_for(sent: int) -> int:
    """The bytes that a reply may have to a request of so many: who is sent little has little to answer."""
    return min(MAX_FRAME, UNASKED + FOR_A_BYTE * sent)


def shared_memory(size: int) -> int | None:
    """A descriptor of so many bytes for two processes to map, None where the system has no such thing."""
    if not hasattr(os, "memfd_create"):
        return None
    descriptor = os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, *SEALS)
    return descriptor


def mapped(descriptor: int) -> mmap.mmap:
    """Map it, and close the descriptor."""
    try:
        return mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def encode(message: object) -> bytes:
    """One message of plain values, dataclasses and bytes."""
    contents: list[bytes] = []
    outline = msgspec.msgpack.encode(message, enc_hook=partial(extension_of, contents))
    return b"".join([LENGTH.pack(len(outline)), outline, *contents])


def extension_of(contents: list[bytes], value: object) -> msgspec.msgpack.Ext:
    """Tensors, arrays and opaque values as msgpack's extension types; the numbers' bytes join `contents`."""
    if is_tensor(value):
        name = str(value.dtype).removeprefix("torch.")
        if name not in OF_TORCH:
            return extension_of(contents, Opaque(f"{value.dtype} tensor"))
        if value.numel():
            contents.append(value.contiguous().flatten().view(sys.modules["torch"].uint8).numpy().tobytes())
        return msgspec.msgpack.Ext(TENSOR, msgspec.msgpack.encode([name, list(value.shape)]))
    if is_array(value):
        if value.dtype.name not in OF_NUMPY:
            return extension_of(contents, Opaque(f"{value.dtype} array"))
        contents.append(value.tobytes())
        return msgspec.msgpack.Ext(ARRAY, msgspec.msgpack.encode([value.dtype.name, list(value.shape)]))
    if isinstance(value, Opaque):
        return msgspec.msgpack.Ext(OPAQUE, value.type_name.encode("utf-8", "replace")[:200])
    raise TypeError(f"a {type(value).__name__} is no plain value")


def decode(frame: bytes, longest_outline: int = MAX_FRAME) -> Any:
    """A message from a trusted sender. Raises ValueError where it is none."""
    if len(frame) < LENGTH.size:
        raise ValueError("no length")
    (length,) = LENGTH.unpack_from(frame)
    if length > min(longest_outline, len(frame) - LENGTH.size):
        raise ValueError("a length that is too large")
    view = memoryview(frame)[LENGTH.size :]
    contents = Contents(view[length:])
    message = msgspec.msgpack.decode(view[:length], ext_hook=partial(from_extension, contents))
    if contents.left:
        raise ValueError("bytes that belong to no tensor")
    return message


def decode_reply(frame: bytes) -> Reply:
    """A reply from anyone. Raises Malformed and nothing else."""
    try:
        message = decode(frame, MAX_OUTLINE)
        if type(message) is not dict:
            raise ValueError("no reply")
        reply = msgspec.convert(message, Reply)
        check_plain(reply.value)
    except Exception as error:  # of msgspec, NumPy or torch: what they make of nonsense is not promised
        raise Malformed(f"the answer is malformed ({type(error).__name__})") from None
    return reply


class Contents:
    """The bytes of a message's tensors, each of which is taken once: so a message can't become larger than it is."""

    def __init__(self, view: memoryview) -> None:
        self.left = view

    def take(self, size: int) -> bytearray:
        """The next so many bytes. Raises ValueError where there are fewer."""
        if size > len(self.left):
            raise ValueError("the bytes do not fill the shape")
        taken, self.left = self.left[:size], self.left[size:]
        return bytearray(taken)


def from_extension(contents: Contents, code: int, data: memoryview) -> Plain:
    """Undo `extension_of`. Raises ValueError."""
    if code == OPAQUE:
        return Opaque(bytes(data[:200]).decode("utf-8", "replace"))
    torch = sys.modules.get("torch")
    if code != ARRAY and (code != TENSOR or torch is None):
        raise ValueError("unknown extension")
    name, shape = msgspec.msgpack.decode(data, type=tuple[str, list[int]])
    if name not in (OF_NUMPY if code == ARRAY else OF_TORCH) or len(shape) > MAX_AXES or min(shape, default=0) < 0:
        raise ValueError("no such dtype or shape")
    if math.prod(max(1, size) for size in shape) > MAX_FRAME:  # of an empty one, torch multiplies the other sizes
        raise ValueError("a shape that is too large")
    dtype: Any = np.dtype(name) if code == ARRAY else getattr(torch, name)
    raw = contents.take(math.prod(shape) * dtype.itemsize)
    if code == ARRAY:
        numbers = np.frombuffer(raw, dtype=np.uint8 if name == "bool" else dtype)
        return (numbers != 0 if name == "bool" else numbers).reshape(shape)
    assert torch is not None
    if not raw:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(raw, dtype=torch.uint8 if name == "bool" else dtype)
    return (flat != 0 if name == "bool" else flat).reshape(shape)


def check_plain(value: Plain, depth: int = 0) -> None:
    """Demand what `torchkata.seam.values.plain` makes. Raises ValueError."""
    if isinstance(value, list) and depth <= MAX_DEPTH:
        for item in value:
            check_plain(item, depth + 1)
    elif isinstance(value, dict) and depth <= MAX_DEPTH and all(type(key) is str for key in value):
        for item in value.values():
            check_plain(item, depth + 1)
    elif value is not None and not (
        type(value) in (bool, int, float, str, Opaque) or is_array(value) or is_tensor(value)
    ):
        raise ValueError(f"a {type(value).__name__} is no plain value")
