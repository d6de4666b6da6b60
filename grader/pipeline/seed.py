"""Stores the secret seed of a class in DIR, so that the same inputs are drawn if the class is graded again.

Students who know the seed can predict all inputs and could submit a table of answers instead of code.
"""

import secrets
from pathlib import Path

from grader.base.errors import CallError
from grader.base.files import write_whole

NAME = ".seed"


def draw() -> int:
    """Return a new seed, too large to be found by trying all seeds until one gives the inputs in a message."""
    return secrets.randbelow(2**63)


def load_or_draw(directory: Path) -> int:
    """Return the seed stored in a results directory, or a new one. Raises CallError if the stored one is invalid."""
    path = directory / NAME
    try:
        text = path.read_text("ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return draw()
    except OSError as error:
        raise CallError(f"{path}: can't be read ({error.strerror})") from None
    if not text.isdecimal():
        raise CallError(f"{path}: should contain one integer, the seed of the results in this directory")
    return int(text)


def store(directory: Path, seed: int) -> None:
    """Store the seed for later runs that use the same directory. Raises OSError if it can't be written."""
    content = f"{seed}\n".encode()
    path = directory / NAME
    if not path.is_file() or path.read_bytes() != content:
        write_whole(path, content)
