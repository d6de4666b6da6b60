"""Where the grader prints."""

from rich.console import Console

WIDE = 120  # columns, where the output is no terminal


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """Wide enough for a table when it is a file or a pipe."""
    made = Console(quiet=quiet, stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(quiet=quiet, stderr=stderr, highlight=False, width=WIDE)
