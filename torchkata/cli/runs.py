"""A run of pytest that goes on beside us: forked from a process that has imported torch, or started anew."""

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Protocol

from torchkata.course import course

NEEDED = ("numpy", "hypothesis", "pytest", "torchkata.compare.assertions", "torchkata.diagnosis.explain")
EXPECTED = "-Wignore:Module already imported:pytest.PytestAssertRewriteWarning"  # this very command has imported it


class Run(Protocol):
    """A process; `subprocess.Popen` is one."""

    def poll(self) -> int | None:
        """Its exit code, None while it runs; -9 for signal 9."""

    def kill(self) -> None:
        """End it."""

    def wait(self) -> int:
        """Wait until it has ended: its exit code."""


def can_fork() -> bool:
    """Whether the platform copies processes."""
    return hasattr(os, "fork")


def load() -> None:
    """Import what every run needs, so that no forked one has to.

    Nothing is computed: after an operation on several threads, torch hangs in a forked process.
    """
    for module in (*course().preload, *NEEDED):
        importlib.import_module(module)


class Forked:
    """Pytest in a copy of this process."""

    def __init__(self, arguments: Sequence[str], output: IO[bytes] | None) -> None:
        self.code: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            test(arguments, output)

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        return self.ended(os.WNOHANG)

    def kill(self) -> None:
        """End it."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it has ended: its exit code."""
        self.ended(0)
        assert self.code is not None
        return self.code

    def ended(self, options: int) -> int | None:
        """Ask the system, until it has told once."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, options)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code


def test(arguments: Sequence[str], output: IO[bytes] | None) -> None:
    """Be the forked process: run pytest, and end."""
    code = 70
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that forked, which then ends this
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if output is not None:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        import pytest

        code = int(pytest.main([EXPECTED, *arguments]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def started(arguments: Sequence[str], output: IO[bytes] | None) -> Run:
    """Pytest in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=course().root,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
    )
