"""The command for starting Python without importing from the current directory, which may be a submission."""

import sys


def python(*arguments: str) -> list[str]:
    """Return the command that runs this Python interpreter so that it can import only installed packages."""
    return [sys.executable, "-P", *arguments]
