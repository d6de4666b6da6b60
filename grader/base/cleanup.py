"""Removes files that killed runs leave behind: half-written files next to results, and copies of the runtime.

A process that uses such a file holds a lock on it. The system releases the lock no matter how the process ends.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

STARTING_SECONDS = 600.0  # an unlocked runtime older than this belongs to a grader that has died


@contextlib.contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Protect a file or directory from removal in this context. A system without file locks removes nothing at all."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def is_in_use(path: Path) -> bool:
    """Return whether a living process holds the lock."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def clear_half_written(directory: Path) -> None:
    """Remove the half-written files of killed runs from a directory of results."""
    for pattern in (".gradebook.csv.*.tmp", "*/.result.json.*.tmp", "*/.*.svg.*.tmp"):
        for path in directory.glob(pattern):
            with contextlib.suppress(OSError):
                if not path.is_symlink() and not is_in_use(path):
                    path.unlink()


def clear_runtimes() -> None:
    """Remove the copies of the runtime that this user's killed graders have left."""
    for path in Path(tempfile.gettempdir()).glob("torchkata-runtime-*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            is_old = time.time() - found.st_mtime > STARTING_SECONDS
            if found.st_uid == os.getuid() and path.is_dir() and is_old and not is_in_use(path):
                shutil.rmtree(path)
