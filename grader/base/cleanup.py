"""Clears away what killed runs have left: half-written files beside the results, copies of the runtime.

Whoever uses one holds a lock on it, which the system lets go of when the process ends, however it ends.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

STARTING_SECONDS = 600.0  # so long after it was made, a runtime has been locked, or its maker is dead


@contextlib.contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Within, nobody clears this file or directory away; where the file system has no locks, nobody ever does."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def is_in_use(path: Path) -> bool:
    """Whether a process that lives holds the lock."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def clear_half_written(directory: Path) -> None:
    """Remove what was being written among these results when its writer was killed."""
    for pattern in (".gradebook.csv.*.tmp", "*/.result.json.*.tmp", "*/.*.svg.*.tmp"):
        for path in directory.glob(pattern):
            with contextlib.suppress(OSError):
                if not path.is_symlink() and not is_in_use(path):
                    path.unlink()


def clear_runtimes() -> None:
    """Remove copies of the runtime whose grader was killed: they are this user's, and older than any start takes."""
    for path in Path(tempfile.gettempdir()).glob("torchkata-runtime-*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            made_long_ago = time.time() - found.st_mtime > STARTING_SECONDS
            if found.st_uid == os.getuid() and path.is_dir() and made_long_ago and not is_in_use(path):
                shutil.rmtree(path)
