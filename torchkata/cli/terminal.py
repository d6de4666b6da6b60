"""Where `kata` prints: colours where they are wanted, characters that any terminal can show, errors in one line."""

import io
import os
import sys

from ..languages import words

COLOURS = {"done": "32", "wrong": "31", "crashed": "31", "timed_out": "31", "inconclusive": "33", "bold": "1"}


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


def paint(text: str, style: str) -> str:
    """The text in the colour of a status, or as it is."""
    return f"\x1b[{COLOURS[style]}m{text}\x1b[0m" if style in COLOURS and has_colour() else text


def say(key: str, **values: object) -> None:
    """Print a text, at once: a process that is forked next must not print it again."""
    print(words(key, **values), flush=True)
