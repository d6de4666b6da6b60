"""Starts a run: the sandbox imports in parallel with this process, and a line on the terminal shows the current step.

This module is quick to import.
"""

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Literal

from grader.sandbox.launch import IsolationError, Sandbox, launch
from torchkata.course import Kata, course

ERASE = "\r\x1b[2K"


class Startup:
    """The sandboxes of one run, launched as early as possible. Call `close` when the run ends."""

    def __init__(self, *, quiet: bool = True) -> None:
        self.shown = not quiet and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.ahead: dict[str, Sandbox] = {}  # launched, but not requested yet
        self.sandboxes: list[Sandbox] = []

    def launch_ahead(self, level: Literal["bwrap", "none"], katas: Iterable[Kata]) -> None:
        """Launch the sandbox that will most likely be needed; `get_sandbox` reports any error later."""
        with contextlib.suppress(IsolationError):
            self.ahead[level] = self.get_sandbox(level, katas)

    def get_sandbox(self, level: Literal["bwrap", "none"], katas: Iterable[Kata]) -> Sandbox:
        """Return a sandbox of this level, which may still be importing. Raises IsolationError."""
        if level in self.ahead:
            return self.ahead.pop(level)
        sandbox = launch(level, course().limits, katas=katas)
        self.sandboxes.append(sandbox)
        return sandbox

    def show(self, step: str) -> None:
        """Show the current step in place of the previous one, if this is a terminal."""
        if self.shown:
            print(f"{ERASE}starting: {step} …", end="", file=sys.stderr, flush=True)

    def clear_line(self) -> None:
        """Erase the line."""
        if self.shown:
            print(ERASE, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Erase the line and end every sandbox."""
        self.clear_line()
        for sandbox in self.sandboxes:
            sandbox.close()
