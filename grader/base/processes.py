"""The command for starting Python, without importing from the current directory, which may be a submission."""

import sys


def python(*arguments: str) -> list[str]:
    """Return the command that runs this Python; only installed packages can be imported."""
    return [sys.executable, "-P", *arguments]
