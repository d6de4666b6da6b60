"""The consoles used for the grader's output."""

import json
import sys
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from grader.base.text import printable

WIDE = 120  # number of columns in a file or pipe


class SafeConsole(Console):
    """A console that passes text to `printable` and prints it as it is, without markup and additional line breaks."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print strings, or tables of strings that are already printable."""
        if all(isinstance(text, (str, Text)) for text in objects):
            options = {"markup": False, "soft_wrap": True} | options
        super().print(*(printable(text) if isinstance(text, str) else text for text in objects), **options)


def create_console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """Return a console. If its output is a file or pipe, the console is wide enough for tables."""
    console = SafeConsole(quiet=quiet, stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    return console


def print_warning(err: Console, text: str) -> None:
    """Print a one-line warning."""
    err.print(f"warning: {text}", style="yellow")


def print_json(value: object) -> None:
    """Print a JSON object, in ASCII only, to standard output for programs. Text for people goes to standard error."""
    text = msgspec.json.encode(make_printable(msgspec.to_builtins(value)))
    sys.stdout.write(json.dumps(json.loads(text), indent=1) + "\n")


def make_printable(value: Any) -> Any:
    """Convert all strings in a JSON value to printable text."""
    if isinstance(value, dict):
        return {make_printable(key): make_printable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [make_printable(one) for one in value]
    return printable(value) if isinstance(value, str) else value
