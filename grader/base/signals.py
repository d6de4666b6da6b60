"""Handles Ctrl-C, and makes child processes exit if their parent dies."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import NoReturn

PARENT_DEATH_SIGNAL = 1
STOPPED = 130  # the exit code that shells use for Ctrl-C

asked_to_stop = Event()  # needed because an interrupted library may suppress the exception


def exit_at_ctrl_c(line: str, tidy: Callable[[], object] = lambda: None) -> None:
    """Make Ctrl-C exit this process immediately.

    Use this function during imports, when `tidy` is the only cleanup that is needed.
    """

    def leave(_signal: int, _frame: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        tidy()
        os.write(2, f"{line}\n".encode())
        os._exit(STOPPED)

    signal.signal(signal.SIGINT, leave)


def raise_at_ctrl_c() -> None:
    """Make the first Ctrl-C raise KeyboardInterrupt. Ignore any further Ctrl-C, which could interrupt the cleanup."""

    def interrupt(_signal: int, _frame: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.unraisablehook = lambda _: None  # where the exception can't propagate, the next wait raises it
        asked_to_stop.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Block Ctrl-C in this context, so that it can't leave a child running or a result partially processed."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interruptible() -> Iterator[None]:
    """Allow Ctrl-C in this context, which must be inside an `uninterrupted` context."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if asked_to_stop.is_set():
            raise KeyboardInterrupt
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Ignore Ctrl-C, and exit if the parent dies.

    On Linux, the process exits immediately. On other systems, it exits when it can't send its next message.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent had died before the call above
            os._exit(1)
