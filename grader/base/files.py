"""Writes files atomically, and removes what killed runs have left behind: partial files, and copies of the runtime.

While a process is using such a file, it holds a lock on it. The operating system releases the lock no matter how the
process exits.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from torchkata.files import write_atomically

STARTING_SECONDS = 600.0  # an unlocked runtime that is older than this belongs to a grader that no longer exists


@contextlib.contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Protect a file or directory from removal by this module for the duration of the context.

    On systems without file locks, this module never removes anything.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def is_in_use(path: Path) -> bool:
    """Return whether a running process holds the lock on a file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def write_whole(path: Path, content: bytes | Iterator[bytes]) -> None:
    """Write a file atomically: write a temporary file, lock it so that no cleanup removes it, and rename it.

    `content` can be an iterator, so that it does not have to fit in memory. Raises OSError if the file can't be
    written.
    """
    write_atomically(path, content, in_use)


def clear_half_written(directory: Path) -> None:
    """Remove the partially written files of killed runs from a results directory."""
    for pattern in (".gradebook.csv.*.tmp", "*/.result.json.*.tmp"):
        for path in directory.glob(pattern):
            with contextlib.suppress(OSError):
                if not path.is_symlink() and not is_in_use(path):
                    path.unlink()


def clear_runtimes() -> None:
    """Remove the copies of the runtime that this user's killed graders have left behind."""
    for path in Path(tempfile.gettempdir()).glob("torchkata-runtime-*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            is_old = time.time() - found.st_mtime > STARTING_SECONDS
            if found.st_uid == os.getuid() and path.is_dir() and is_old and not is_in_use(path):
                shutil.rmtree(path)
