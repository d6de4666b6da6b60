"""What Ctrl-C does and when it may strike, and what a child does when its parent is gone."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import NoReturn

PARENT_DEATH_SIGNAL = 1
STOPPED = 130  # the exit code that shells give to Ctrl-C

asked_to_stop = Event()  # remembered, since a library that is interrupted may swallow the exception


def exit_at_ctrl_c(line: str, tidy: Callable[[], object] = lambda: None) -> None:
    """From now on Ctrl-C ends this process at once: for while it imports, and has made nothing that `tidy` leaves."""

    def leave(_signal: int, _frame: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        tidy()
        os.write(2, f"{line}\n".encode())
        os._exit(STOPPED)

    signal.signal(signal.SIGINT, leave)


def raise_at_ctrl_c() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, once: a second one does not disturb the tidying up."""

    def interrupt(_signal: int, _frame: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.unraisablehook = lambda _: None  # it may strike where nothing can be raised: then the next wait ends
        asked_to_stop.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within, Ctrl-C has to wait: no child goes astray, no result is half taken in."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within `uninterrupted`, where Ctrl-C may strike after all."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        if asked_to_stop.is_set():
            raise KeyboardInterrupt
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Leave Ctrl-C to the parent, and die when it dies, however it dies (Linux; elsewhere at the next message)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)
