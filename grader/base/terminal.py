"""Where the grader prints."""

import sys

import msgspec
from rich.console import Console

WIDE = 120  # columns, where the output is no terminal


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """Wide enough for a table when it is a file or a pipe."""
    made = Console(quiet=quiet, stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(quiet=quiet, stderr=stderr, highlight=False, width=WIDE)


def print_warning(err: Console, text: str) -> None:
    """Print a warning."""
    err.print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)


def print_json(value: object) -> None:
    """One JSON object on standard output, for programs: what is meant for people goes to the other stream then."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n")
