"""Makes the standard streams usable in every terminal, and without one."""

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

NAMES = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")


def prepare_streams(errors: str = "replace") -> None:
    """Make printing never fail: change characters that can't be displayed, and open streams that the shell has closed.

    Where Chinese would become question marks, texts for students are in English.

    Args:
        errors: how to change such characters, as in `str.encode`.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open_nothing(mode, errors))
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    if errors == "replace" and not can_show("中"):
        os.environ["KATA_LANG"] = "en"


def can_show(text: str) -> bool:
    """Return whether the encoding of the standard output has these characters."""
    try:
        return bool(text.encode(sys.stdout.encoding or "utf-8"))
    except (LookupError, UnicodeEncodeError):
        return False


def count_printed(descriptor: int = 1) -> int:
    """Return how many bytes were written to the standard output, or 0 if it is not a file (as pytest's capture is)."""
    with suppress(OSError):
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    return 0


def cut_printed(most: int, descriptor: int = 1) -> None:
    """Discard all but this many bytes of what was written to the standard output, if it is a file."""
    with suppress(OSError, ValueError):
        if count_printed(descriptor) > most:
            sys.stdout.flush()
            os.ftruncate(descriptor, most)
            os.lseek(descriptor, 0, os.SEEK_END)


def open_nothing(mode: str = "w", errors: str = "replace") -> Any:
    """Return a stream that discards what is written to it. Python may exit without a warning that it is open."""
    return os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8", errors=errors, closefd=False)


class Lent(io.BufferedIOBase):
    """Writes to the buffer of the current one of our streams. Closing this object does not close that stream."""

    def __init__(self, name: str, ours: Mapping[str, Any]) -> None:
        self.name = name
        self.ours = ours

    @property
    def stream(self) -> Any:
        """The stream of this name that our code has, or had when it last called student code."""
        return self.ours[self.name]

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes."""
        buffer = getattr(self.stream, "buffer", None)
        if buffer is None:  # a stream of text, such as a StringIO
            self.stream.write(bytes(data).decode(errors="replace"))
            return len(data)
        return int(buffer.write(data))

    def flush(self) -> None:
        """Flush the stream."""
        with suppress(ValueError):  # the stream has been closed in the meantime
            self.stream.flush()

    def fileno(self) -> int:
        """Return the file descriptor of the stream."""
        return int(self.stream.fileno())

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return bool(self.stream.isatty())


class LentStreams:
    """The standard streams while student code runs. It may replace and close them, as if the process were its own.

    What it has replaced is there again in the next call, until `reset`.
    """

    def __init__(self) -> None:
        self.ours: dict[str, Any] = {}
        self.lent: list[Any] = []  # kept, because a thread may still print to them, and closing them can crash Python
        self.streams: dict[str, Any] = {}

    def reset(self) -> None:
        """Forget what student code has done to the streams."""
        self.streams = {}

    @contextmanager
    def lend(self) -> Iterator[None]:
        """Let the code in this context use streams of its own, which write to those that our code has now."""
        self.ours |= {name: getattr(sys, name) for name in NAMES}
        if not self.streams:
            self.streams = {name: lend_stream(name, self.ours) for name in NAMES}
            self.lent += self.streams.values()
        vars(sys).update(self.streams)
        try:
            yield
        finally:
            self.streams = {name: getattr(sys, name, None) for name in NAMES}
            for stream in (self.streams["stdout"], self.streams["stderr"]):
                with suppress(Exception):  # student code may have closed it, or may have put anything there
                    stream.flush()
            vars(sys).update(self.ours)


def lend_stream(name: str, ours: Mapping[str, Any]) -> Any:
    """Return a stream that writes to the one of this name. Return that one if student code can't close its buffer."""
    stream = ours[name]
    if not hasattr(stream, "buffer") or stream.closed or not stream.writable():
        return stream
    return io.TextIOWrapper(Lent(name, ours), stream.encoding, stream.errors, newline="", write_through=True)
