"""Formats the output of `kata`: colors, wrapping, and characters that the terminal can't display."""

import os
import shutil
import sys
from typing import Literal

from torchkata.i18n import _, wrap
from torchkata.result import LOOK_OF, Status

WIDTH = 100  # maximum width of text in columns
CODES = {"green": "32", "red": "31", "yellow": "33", "bold": "1"}  # ANSI codes; grey text is left unchanged


class UsageError(Exception):
    """Raised if a command can't be executed. The message is a single line."""


def has_color() -> bool:
    """Return whether stdout is a terminal that supports colors and NO_COLOR is not set (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or sys.platform == "win32"
    return not plain and sys.stdout.isatty()


def paint(text: str, style: Status | Literal["bold"]) -> str:
    """Return the text in the color of a status, or in bold."""
    code = CODES.get("bold" if style == "bold" else LOOK_OF[style].color)
    return f"\x1b[{code}m{text}\x1b[0m" if code and has_color() else text


def print_wrapped(text: str, hanging: int = 0) -> None:
    """Print text wrapped to the width of the terminal, with continuation lines indented by `hanging` columns."""
    print(*wrap_text(text, hanging), sep="\n", flush=True)


def wrap_text(text: str, hanging: int = 0) -> list[str]:
    """Return the lines of text wrapped to the width of the terminal. See `print_wrapped`."""
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)
    return [part for line in text.splitlines() for part in wrap(line, width, hanging)]


def say(english: str, /, **values: object) -> None:
    """Print a sentence in the student's language, and flush it, so that a forked process does not print it again."""
    print(_(english, **values), flush=True)


def report_silence(katas: str, code: int) -> None:
    """Say that a run ended without a result, and with which exit code."""
    say(
        "{kata}: no result, because the run ended early (exit code {code}). Does your code exit Python?",
        kata=katas,
        code=code,
    )
