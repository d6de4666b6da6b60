"""Where `kata` prints: colours where they are wanted, characters that any terminal can show, errors in one line."""

import io
import os
import shutil
import sys
from typing import Literal

from torchkata.i18n import words, wrapped
from torchkata.result import LOOK_OF, Status

WIDTH = 100  # columns of a text, where the terminal has as many
CODES = {"green": "32", "red": "31", "yellow": "33", "bold": "1"}  # of ANSI; grey is as it is


class CallError(Exception):
    """What was asked for can't be done; the message says why, in one line."""


def prepare() -> None:
    """Let no character fail that a terminal or a pipe can't show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def has_colour() -> bool:
    """On a terminal that understands it, unless NO_COLOR says otherwise (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or sys.platform == "win32"
    return not plain and sys.stdout.isatty()


def paint(text: str, style: Status | Literal["bold"]) -> str:
    """The text in the colour of a status, or bold."""
    code = CODES.get("bold" if style == "bold" else LOOK_OF[style].colour)
    return f"\x1b[{code}m{text}\x1b[0m" if code and has_colour() else text


def tell(text: str, hanging: int = 0) -> None:
    """Print a text broken between words; what follows a line's first break begins at column `hanging`."""
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)
    for line in text.splitlines():
        print(*wrapped(line, width, hanging), sep="\n")


def say(key: str, **values: object) -> None:
    """Print a text, at once: a process that is forked next must not print it again."""
    print(words(key, **values), flush=True)
