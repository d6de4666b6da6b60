"""Writes files atomically, so that a reader never sees half a file."""

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

MAX_NAME = 100  # number of bytes of a file name that are kept in the name of its temporary file


def write_atomically(
    path: Path, content: bytes | Iterator[bytes], hold: Callable[[Path], AbstractContextManager[None]] | None = None
) -> None:
    """Write a temporary file and let it replace `path` atomically. Raises OSError if a file can't be written.

    `content` can be an iterator of parts, so that it does not have to fit in memory. `hold` returns a context manager
    that is active from the creation of the temporary file until the replacement.
    """
    name = os.fsencode(path.name)[:MAX_NAME].decode("utf-8", "ignore")  # it may already have the maximum length
    writer = f"{platform.node()}.{os.getpid()}"  # processes on different nodes can have the same id
    temporary = path.with_name(f".{name}.{writer}.tmp")
    try:
        with temporary.open("wb") as file, hold(temporary) if hold else nullcontext():
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
