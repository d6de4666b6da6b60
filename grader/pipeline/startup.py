"""Starts a run. The sandbox and this process import their modules in parallel; the terminal shows the current step.

This module must be fast to import.
"""

import contextlib
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from grader.sandbox.launch import Sandbox, launch
from grader.sandbox.mounts import IsolationError
from torchkata.course import Kata, course

ERASE = "\r\x1b[2K"


class Startup:
    """The sandboxes of a run, launched as early as possible. Call `close` at the end of the run."""

    def __init__(self, *, quiet: bool = True) -> None:
        self.shown = not quiet and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.ahead: dict[str, Sandbox] = {}  # launched but not yet requested
        self.sandboxes: list[Sandbox] = []

    def launch_ahead(self, level: Literal["bwrap", "none"], katas: Iterable[Kata], examples: int) -> None:
        """Launch the sandbox that will most likely be needed. Errors are raised later by `get_sandbox`."""
        with contextlib.suppress(IsolationError):
            self.ahead[level] = self.get_sandbox(level, katas, examples)

    def get_sandbox(self, level: Literal["bwrap", "none"], katas: Iterable[Kata], examples: int) -> Sandbox:
        """Return a sandbox with this isolation level. It may still be importing modules.

        Raises IsolationError if the sandbox can't be launched.
        """
        if level in self.ahead:
            return self.ahead.pop(level)
        seconds = course().limits.kata_seconds * compute_patience(examples)
        sandbox = launch(level, replace(course().limits, kata_seconds=seconds), katas=katas)
        self.sandboxes.append(sandbox)
        return sandbox

    def show(self, step: str) -> None:
        """Show the current step instead of the previous one, if the output is a terminal."""
        if self.shown:
            print(f"{ERASE}starting: {step} …", end="", file=sys.stderr, flush=True)

    def clear_line(self) -> None:
        """Erase the line that shows the current step."""
        if self.shown:
            print(ERASE, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Erase the line that shows the current step, and close all sandboxes."""
        self.clear_line()
        for sandbox in self.sandboxes:
            sandbox.close()


def compute_patience(examples: int) -> float:
    """Return the factor by which to multiply all time limits. It grows with the number of examples."""
    return max(1.0, examples / 100)
