"""Sends frames over a socket. A frame consists of a length and a message of plain values (see `encoding`).

A large frame is stored in memory that is mapped by both sides, and only its length is sent over the socket. The size of
this memory is sealed, so that neither side can truncate it while the other side is using it. The receiver makes a copy
of the frame before decoding it.
"""

import fcntl
import mmap
import os
import socket
import struct
import time
from collections.abc import Callable

import msgspec

from grader.sandbox.inside.encoding import LENGTH, MAX_FRAME, check_plain, decode, encode
from torchkata.inside.reply import Reply
from torchkata.inside.text import Text

MAX_OUTLINE = 2**20  # bytes of a reply without its tensors; once decoded, it may take up to 64 times as much memory
BASE_REPLY, REPLY_PER_BYTE = 2**23, 16  # bytes allowed in every reply, and additional bytes per byte of the request
LARGE = 2**16  # frames of at least this many bytes are sent through shared memory
IN_SHARED_MEMORY = 2**31  # flag that is added to the length of a frame
SEALS = 1033, 0x0002 | 0x0004 | 0x0001  # F_ADD_SEALS: SHRINK, GROW and SEAL
CREDENTIALS = struct.Struct("@iII")  # the ids of a process, its user and its group


class ChannelError(Exception):
    """Base class of the errors that are raised if no valid frame was received."""


class Closed(ChannelError):
    """Raised if the other side has closed the connection."""


class Late(ChannelError):
    """Raised if a frame was not complete before the deadline."""


class Malformed(ChannelError):
    """Raised if a frame violates the protocol."""


class Channel:
    """One end of a connection. Either a complete frame is received, or an error is raised."""

    def __init__(self, connection: socket.socket, shared: mmap.mmap | None = None) -> None:
        self.socket = connection
        self.shared = shared
        self.deadline: float | None = None  # deadline for the frame that is currently being received

    def close(self) -> None:
        """Close the connection and the shared memory."""
        self.socket.close()
        if self.shared is not None:
            self.shared.close()

    def send(self, message: object, deadline: float | None = None) -> int:
        """Send a frame and return its size. Raises Closed, or Late if the other side doesn't read the frame in time."""
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
        """Return the next frame without decoding it. The frame may have at most `most` bytes.

        At the deadline, `more` returns the number of seconds by which to extend it. Raises Closed, Late or Malformed if
        no valid frame was received.
        """
        self.deadline = deadline
        (length,) = LENGTH.unpack(self.read(LENGTH.size, more))
        shared = length >= IN_SHARED_MEMORY
        length %= IN_SHARED_MEMORY
        if length > most:
            raise Malformed(Text("the answer is too large"))
        if not shared:
            return self.read(length, more)
        if self.shared is None:
            raise Malformed(Text("the answer is malformed ({how})", how=Text("no shared memory")))
        return self.shared[:length]

    def identify_sender(self, deadline: float) -> int:
        """Wait for a frame without reading it, and return the id of the process that has sent it, as the kernel says.

        The socket must have the option SO_PASSCRED. Raises Closed, or OSError if there is no frame before the deadline.
        """
        self.wait_until(deadline)
        frame, found, _, _ = self.socket.recvmsg(1, socket.CMSG_SPACE(CREDENTIALS.size), socket.MSG_PEEK)
        if not frame:  # then the kernel says 0, which is the clock of this process
            raise Closed
        return int(CREDENTIALS.unpack(found[0][2])[0])

    def send_descriptor(self, descriptor: int) -> None:
        """Send a file descriptor, which must be announced by the preceding frame. Raises Closed if that fails."""
        try:
            socket.send_fds(self.socket, [b"d"], [descriptor])
        except OSError:
            raise Closed from None

    def receive_descriptor(self) -> int:
        """Receive a file descriptor. Raises Malformed if the other side did not send one."""
        _, descriptors, _, _ = socket.recv_fds(self.socket, 1, 1)
        if not descriptors:
            raise Malformed(Text("no file descriptor was received"))
        return descriptors[0]

    def expect_silence(self) -> None:
        """Raise Malformed if the other side has sent data before a request, or Closed if the connection is closed."""
        self.socket.settimeout(0)
        try:
            early = self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            raise Closed from None
        if not early:
            raise Closed
        raise Malformed(Text("your code sent an answer before it was called"))

    def read(self, size: int, more: Callable[[], float]) -> bytes:
        """Read exactly `size` bytes before the deadline, which can be extended by `more`."""
        parts = bytearray()
        while len(parts) < size:
            try:
                self.wait_until(self.deadline)
                part = self.socket.recv(min(size - len(parts), 2**20))
            except TimeoutError:
                seconds = more()
                if self.deadline is None or seconds <= 0:
                    raise Late from None
                self.deadline += seconds
                continue
            except OSError:
                raise Closed from None
            if not part:
                raise Closed
            parts += part
        return bytes(parts)

    def wait_until(self, deadline: float | None) -> None:
        """Set the timeout of the next socket operation so that it ends at this value of `time.monotonic()`."""
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        self.socket.settimeout(left)


def compute_reply_limit(sent: int) -> int:
    """Return the maximum size in bytes of a reply to a request of `sent` bytes."""
    return min(MAX_FRAME, BASE_REPLY + REPLY_PER_BYTE * sent)


def create_shared_memory(size: int) -> int | None:
    """Return a descriptor of sealed memory that two processes can map, or None if memfd is not available."""
    if not hasattr(os, "memfd_create"):
        return None
    descriptor = os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, *SEALS)
    return descriptor


def map_descriptor(descriptor: int) -> mmap.mmap:
    """Map the memory of a descriptor and close the descriptor."""
    try:
        return mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def decode_reply(frame: bytes) -> Reply:
    """Decode a reply from an untrusted sender. If it is malformed, raise Malformed and no other exception."""
    try:
        message = decode(frame, MAX_OUTLINE)
        if type(message) is not dict:
            raise ValueError("not a reply")
        reply = msgspec.convert(message, Reply)
        check_plain(reply.value)
    except Exception as error:  # msgspec, NumPy and torch may raise any exception for malformed data
        raise Malformed(Text("the answer is malformed ({how})", how=type(error).__name__)) from None
    return reply
