"""Reads single key presses from a terminal without Enter, on Linux and macOS."""

import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

if sys.platform != "win32":
    import termios
    import tty

Wait: TypeAlias = Callable[[float], str]  # waits for up to this many seconds and returns the pressed keys

QUIT = "q"
END_OF_INPUT = "\x04"  # Ctrl-D


def has_keys() -> bool:
    """Return whether stdin and stdout are connected to a terminal that supports single key presses."""
    return sys.platform != "win32" and sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def open_keys() -> Iterator[Wait]:
    """Disable echo and yield a function that waits for keys. If there is no terminal, the function only sleeps."""
    if sys.platform == "win32" or not has_keys():
        yield sleep
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)

    def wait(seconds: float) -> str:
        if not select.select([terminal], [], [], seconds)[0]:
            return ""
        pressed = os.read(terminal, 64).decode("utf-8", "ignore")
        if pressed in ("", END_OF_INPUT):  # Ctrl-D, or the terminal was closed
            return QUIT
        return "" if pressed.startswith("\x1b") else pressed.lower()  # arrow keys send several characters

    try:
        yield wait
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def sleep(seconds: float) -> str:
    """Sleep, and return no keys."""
    time.sleep(seconds)
    return ""
