"""Runs a program in a pseudo-terminal, which a test can read from and type into."""

import fcntl
import io
import os
import pty
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pexpect import EOF
from pexpect.fdpexpect import fdspawn


def start_program(command: Sequence[str], cwd: Path, environment: Mapping[str, str], files: Sequence[int]) -> Any:
    """Start a program in its own session, so that pressing Ctrl-C in the terminal sends it a signal."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=files[0],
        stdout=files[1],
        stderr=files[2],
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )


class Terminal:
    """A terminal running a program. Pass `start=Fork` and a Python module to avoid importing packages again."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        start: Callable[[Sequence[str], Path, Mapping[str, str], Sequence[int]], Any] = start_program,
    ) -> None:
        ours, theirs = pty.openpty()
        self.screen = fdspawn(ours, timeout=120, encoding="utf-8", codec_errors="replace")
        self.screen.logfile_read = io.StringIO()
        self.settings_before = self.settings()
        self.process = start(command, cwd, environment, [theirs] * 3)
        os.close(theirs)  # so that the output ends when the program exits

    def settings(self) -> list[Any]:
        """Return the terminal's attributes, such as whether it echoes input."""
        return termios.tcgetattr(self.screen.child_fd)

    def read_until(self, text: str) -> str:
        """Return the output since the last call, up to and including the given text."""
        self.screen.expect_exact(text)
        return f"{self.screen.before}{text}".replace("\r\n", "\n")

    @property
    def all(self) -> str:
        """All output of the program so far."""
        return str(self.screen.logfile_read.getvalue()).replace("\r\n", "\n")

    def type(self, keys: str) -> None:
        self.screen.send(keys)

    def wait(self) -> int:
        """Wait until the program exits and return its exit code."""
        self.screen.expect_exact(EOF)
        return int(self.process.wait(60))

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(60)
        self.screen.close()
