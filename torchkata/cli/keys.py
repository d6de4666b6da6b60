"""Single keys from a terminal, without Enter, where the platform has them (Linux, macOS)."""

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

Wait: TypeAlias = Callable[[float], str]  # so many seconds at most, for the keys that were pressed

QUIT = "q"
END_OF_INPUT = "\x04"  # Ctrl-D


def has_keys() -> bool:
    """Whether somebody sits at a terminal that can hand over single keys."""
    return sys.platform != "win32" and sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def keys() -> Iterator[Wait]:
    """Within, keys come one by one and are not shown; without a terminal there are none."""
    if sys.platform == "win32" or not has_keys():
        yield no_keys
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)

    def wait(seconds: float) -> str:
        if not select.select([terminal], [], [], seconds)[0]:
            return ""
        pressed = os.read(terminal, 64).decode("utf-8", "ignore")
        if pressed in ("", END_OF_INPUT):  # the terminal is gone, or nothing more will come
            return QUIT
        return "" if pressed.startswith("\x1b") else pressed.lower()  # an arrow is several characters, none a key

    try:
        yield wait
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def no_keys(seconds: float) -> str:
    """Only the time passes."""
    time.sleep(seconds)
    return ""
