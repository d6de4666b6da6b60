"""The secret seed of a class: drawn once for a DIR and kept there, so that a regrade agrees with what is stored.

Whoever knows the seed knows all inputs, and can hand in a table of answers in place of code.
"""

import secrets
from pathlib import Path

from grader.base.errors import CallError
from grader.results.result import write_whole

NAME = ".seed"


def draw() -> int:
    """A new one, which any random generator takes."""
    return secrets.randbelow(2**31)


def of(directory: Path) -> int:
    """The seed of the results there, or a new one where there are none. Raises CallError."""
    path = directory / NAME
    try:
        text = path.read_text("ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return draw()
    except OSError as error:
        raise CallError(f"{path}: can't be read ({error.strerror})") from None
    if not text.isdecimal():
        raise CallError(
            f"{path}: this should be the number that --seed was for the results here, and is something else"
        )
    return int(text)


def keep(directory: Path, seed: int) -> None:
    """Remember the seed for the next run into this directory. Raises OSError."""
    content = f"{seed}\n".encode()
    path = directory / NAME
    if not path.is_file() or path.read_bytes() != content:
        write_whole(path, content)
