"""When Ctrl-C may strike, and what a child does when its parent is gone."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PARENT_DEATH_SIGNAL = 1


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
