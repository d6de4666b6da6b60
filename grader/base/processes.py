"""How we start Python: nothing is imported from the directory that we are called in, which may be a hand-in."""

import sys


def python(*arguments: str) -> list[str]:
    """The command for this Python; what is installed can be imported, and no more."""
    return [sys.executable, "-P", *arguments]
