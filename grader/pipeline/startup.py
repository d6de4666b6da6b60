"""The start of a run: its sandbox imports while this process does, too, and a line says what is waited for.

Imports nothing that takes long itself.
"""

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Literal

from grader.sandbox.launch import IsolationError, Sandbox, launch
from torchkata.course import Kata, course

ERASE = "\r\x1b[2K"


class Start:
    """The sandboxes of one run, begun as early as possible; to be closed when it ends, however it ends."""

    def __init__(self, *, quiet: bool = True) -> None:
        self.shown = not quiet and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.ahead: dict[str, Sandbox] = {}  # begun, and not taken yet
        self.sandboxes: list[Sandbox] = []

    def begin_ahead(self, level: Literal["bwrap", "none"], katas: Iterable[Kata]) -> None:
        """Begin the sandbox that will most likely be asked for; where it can't be had, who asks for it is told."""
        with contextlib.suppress(IsolationError):
            self.ahead[level] = self.sandbox(level, katas)

    def sandbox(self, level: Literal["bwrap", "none"], katas: Iterable[Kata]) -> Sandbox:
        """A sandbox of this level for these katas, which may still be importing. Raises IsolationError."""
        if level in self.ahead:
            return self.ahead.pop(level)
        sandbox = launch(level, course().limits, katas=katas)
        self.sandboxes.append(sandbox)
        return sandbox

    def say(self, what: str) -> None:
        """Tell what is waited for, in the place of what was told before: on a terminal only."""
        if self.shown:
            print(f"{ERASE}starting: {what} …", end="", file=sys.stderr, flush=True)

    def say_no_more(self) -> None:
        """Leave the terminal as it was."""
        if self.shown:
            print(ERASE, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End every sandbox."""
        self.say_no_more()
        for sandbox in self.sandboxes:
            sandbox.close()
