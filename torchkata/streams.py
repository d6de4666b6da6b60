"""Makes the standard streams usable in every terminal, and without one."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def prepare_streams(errors: str = "replace") -> None:
    """Make printing never fail: change characters that can't be displayed, and open streams that the shell has closed.

    Args:
        errors: how to change such characters, as in `str.encode`.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8", errors=errors))  # noqa: SIM115
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def count_printed() -> int:
    """Return how many bytes were written to the standard output, or 0 if it is not a file (as pytest's capture is)."""
    with suppress(OSError):
        return os.lseek(1, 0, os.SEEK_CUR)
    return 0


@contextmanager
def keep_streams_open() -> Iterator[None]:
    """Ignore it if the code in this context closes the standard streams, which everything else in the process uses."""
    kept = vars(sys.stdout), vars(sys.stderr)
    for attributes in kept:
        attributes["close"] = lambda: None
    try:
        yield
    finally:
        for attributes in kept:
            attributes.pop("close", None)
