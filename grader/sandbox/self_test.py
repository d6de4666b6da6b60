"""What a worker can still do, tried by the worker itself: the canary that is sent in before any student's code."""

import contextlib
import ctypes
import os
import resource
import socket
import sys
from collections.abc import Callable, Sequence, Set
from pathlib import Path

from grader.sandbox.confine import CAP_VERSION_3, NEW_MOUNTS, libc

OUTSIDE = ("/", "/usr", "/etc", "/dev", "/dev/shm", "/runtime", "/sites/0", "/var/tmp")
LIMITED = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC")
GET_NO_NEW_PRIVS = 39


def violations(hidden: Sequence[str], *, gpu: bool) -> list[str]:
    """What this process can do and should not, in words; nothing where the sandbox holds.

    With a GPU its address space has no limit: CUDA maps more than any.
    """
    if sys.platform != "linux":
        return ["do whatever its user can: only Linux shuts it in"]
    tries: dict[str, Callable[[], bool]] = {
        "connect to a network": can_connect,
        "start a process": can_fork,
        "see other processes": sees_processes,
        "trace a process": lambda: libc.ptrace(0, 0, 0, 0) == 0,
        "make namespaces": lambda: libc.unshare(NEW_MOUNTS) == 0,
        "use some of root's rights": has_rights,
        "gain rights from a program": lambda: libc.prctl(GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1,
        "use resources without limit": lambda: has_no_limit(set(LIMITED) - ({"RLIMIT_AS"} if gpu else set())),
    }
    found = [words for words, succeeds in tries.items() if succeeds()]
    found += [f"write to {folder}" for folder in OUTSIDE if can_write(folder)][:1]
    return found + [f"read {path}" for path in hidden if readable(path)][:1]


def can_connect() -> bool:
    """Whether a socket can be had: names of services are as bad as a network."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX):
        return True
    return False


def can_fork() -> bool:
    """Whether this process can have children."""
    try:
        pid = os.fork()
    except OSError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def sees_processes() -> bool:
    """Whether any other process shows in /proc."""
    return any(int(entry.name) != os.getpid() for entry in Path("/proc").glob("[0-9]*"))


def has_rights() -> bool:
    """Whether it holds any capability."""
    header, rights = (ctypes.c_uint32 * 2)(CAP_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, rights)
    return any(rights)


def has_no_limit(limited: Set[str]) -> bool:
    """Whether any of these limits is missing."""
    kinds = [getattr(resource, name) for name in limited]
    return any(resource.getrlimit(kind)[1] == resource.RLIM_INFINITY for kind in kinds)


def can_write(folder: str) -> bool:
    """Whether it can leave a file there."""
    mark = Path(folder) / f".torchkata-{os.getpid()}"
    try:
        mark.touch(exist_ok=False)
    except OSError:
        return False
    mark.unlink()
    return True


def readable(path: str) -> bool:
    """Whether this process can look into a file or a directory."""
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True
