"""The consoles that the grader prints to."""

import sys

import msgspec
from rich.console import Console

WIDE = 120  # columns of a file or pipe


def create_console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """Return a console; a file or pipe gets a fixed width that fits tables."""
    console = Console(quiet=quiet, stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    return console


def print_warning(err: Console, text: str) -> None:
    """Print a warning."""
    err.print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)


def print_json(value: object) -> None:
    """Print one JSON object on standard output, for programs; texts for people go to standard error."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n")
