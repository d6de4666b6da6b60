"""A program at a terminal that somebody types at: a pseudo-terminal with our end of it."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol


class Process(Protocol):
    """A program that runs; `subprocess.Popen` is one, and `warm.Fork`."""

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended."""

    def send_signal(self, number: int, /) -> None:
        """Send it a signal."""

    def kill(self) -> None:
        """End it."""


def started(command: Sequence[str], cwd: Path, environment: Mapping[str, str], files: Sequence[int]) -> Process:
    """A program, in a session of its own."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=files[0],
        stdout=files[1],
        stderr=files[2],
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
    )


class Terminal:
    """A running program, what it has printed, and the keys that it is sent."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        start: Callable[[Sequence[str], Path, Mapping[str, str], Sequence[int]], Process] = started,
    ) -> None:
        self.ours, self.theirs = pty.openpty()
        self.settings_before = self.settings()
        self.unread = ""
        self.all = ""
        self.process = start(command, cwd, environment, [self.theirs] * 3)

    def settings(self) -> list[Any]:
        """How the terminal is set: whether it waits for Enter, whether it shows what is typed."""
        return termios.tcgetattr(self.theirs)

    def read_until(self, text: str, seconds: float = 120) -> str:
        """What is printed from the last call on up to this text. Raises AssertionError where it does not come."""
        end = time.monotonic() + seconds
        while text not in self.unread:
            assert time.monotonic() < end, f"no {text!r} in {self.unread!r}"
            assert self.process.poll() is None or self.has_more(0), f"ended without {text!r}: {self.unread!r}"
            if self.has_more(0.05):
                self.read()
        printed, _, self.unread = self.unread.partition(text)
        return printed + text

    def has_more(self, seconds: float) -> bool:
        """Whether something was printed that is not read yet."""
        return bool(select.select([self.ours], [], [], seconds)[0])

    def read(self) -> None:
        """Take what was printed."""
        printed = os.read(self.ours, 65536).decode("utf-8", "replace").replace("\r\n", "\n")
        self.unread += printed
        self.all += printed

    def type(self, keys: str) -> None:
        """Press these keys."""
        os.write(self.ours, keys.encode())

    def wait(self) -> int:
        """Wait until the program has ended: its exit code."""
        end = time.monotonic() + 120
        while self.process.poll() is None and time.monotonic() < end:
            if self.has_more(0.05):
                self.read()
        code = self.process.wait(1)
        while self.has_more(0.05):
            self.read()
        return code

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)
