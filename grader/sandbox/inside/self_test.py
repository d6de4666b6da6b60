"""The self-test of the sandbox: before any student code runs, a worker tries to break out."""

import contextlib
import ctypes
import os
import resource
import socket
import sys
from collections.abc import Callable, Sequence, Set
from pathlib import Path

from grader.sandbox.inside.confine import CAP_VERSION_3, DEVICES, NEW_MOUNTS, libc

OUTSIDE = ("/", "/usr", "/etc", "/dev", "/dev/shm", "/runtime", "/sites/0", "/var/tmp")
LIMITED = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC")
GET_NO_NEW_PRIVS = 39
ASK_PERSONALITY = 0xFFFF_FFFF  # a harmless query that is not used by any library


def find_violations(hidden: Sequence[str], *, gpu: bool, timed: bool) -> list[str]:
    """Return a description of each action that the sandbox should prevent but does not.

    A worker with a GPU may create a socket, because CUDA creates one. Its address space is not limited, because CUDA
    maps more than any limit would allow. A `timed` worker must not be able to store data that is not counted as its
    memory.
    """
    if sys.platform != "linux":
        return ["do whatever its user can do (workers are confined only on Linux)"]
    tries: dict[str, Callable[[], bool]] = {
        "communicate through a socket": can_use_socket,
        "start a process": can_fork,
        "see other processes": sees_processes,
        "trace a process": lambda: libc.ptrace(0, 0, 0, 0) == 0,
        "make system calls that no library needs": lambda: libc.personality(ASK_PERSONALITY) != -1,
        "slow down other processes of its user": lambda: succeeds(os.setpriority, os.PRIO_USER, 0, 0),
        "change the timestamps of a device file": lambda: any(succeeds(os.utime, f"/dev/{name}") for name in DEVICES),
        "use devices that store data": lambda: has_other_devices(gpu=gpu),
        "store data in links": lambda: timed and succeeds(os.symlink, "data", "link"),
        "make namespaces": lambda: libc.unshare(NEW_MOUNTS) == 0,
        "use some of root's capabilities": has_capabilities,
        "gain privileges by running a program": lambda: libc.prctl(GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1,
        "use resources without limit": lambda: has_no_limit(set(LIMITED) - ({"RLIMIT_AS"} if gpu else set())),
    }
    found = [words for words, does in tries.items() if does()]
    own = {"/dev/shm"} if gpu else set[str]()
    found += [f"write to {folder}" for folder in OUTSIDE if folder not in own and can_write(folder)][:1]
    return found + [f"read {path}" for path in hidden if can_read(path)][:1]


def can_use_socket() -> bool:
    """Return whether this process can create a socket that sends data or that may connect to an abstract address.

    Pairs of datagram sockets are included, because each end can be reconnected to another pair.
    """
    kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW)
    if any(succeeds(socket.socketpair, socket.AF_UNIX, kind) for kind in kinds[1:]):
        return True
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        for kind in kinds:
            with contextlib.suppress(OSError), socket.socket(family, kind) as made:
                if (family, kind) != (socket.AF_UNIX, socket.SOCK_SEQPACKET) or may_connect(made):
                    return True
    return False


def may_connect(made: socket.socket) -> bool:
    """Return whether the operating system permits an attempt to connect, even if the attempt fails."""
    try:
        made.connect("\0unused")
    except PermissionError:
        return False
    except OSError:
        pass
    return True


def succeeds(function: Callable[..., object], *arguments: object) -> bool:
    """Return whether a call succeeds, that is, whether it raises no OSError."""
    try:
        function(*arguments)
    except OSError:
        return False
    return True


def has_other_devices(*, gpu: bool) -> bool:
    """Return whether /dev contains devices that are not allowed. For example, a terminal could connect two workers."""
    own, names = {*DEVICES, *(["shm"] if gpu else [])}, {path.name for path in Path("/dev").iterdir()}
    return any(name not in own and not (gpu and name.startswith("nvidia")) for name in names)


def can_fork() -> bool:
    """Return whether this process can create a child."""
    try:
        pid = os.fork()
    except OSError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def sees_processes() -> bool:
    """Return whether any other process is visible in /proc."""
    return any(int(entry.name) != os.getpid() for entry in Path("/proc").glob("[0-9]*"))


def has_capabilities() -> bool:
    """Return whether this process has any capabilities."""
    header, rights = (ctypes.c_uint32 * 2)(CAP_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, rights)
    return any(rights)


def has_no_limit(limited: Set[str]) -> bool:
    """Return whether any of these resources is not limited."""
    kinds = [getattr(resource, name) for name in limited]
    return any(resource.getrlimit(kind)[1] == resource.RLIM_INFINITY for kind in kinds)


def can_write(folder: str) -> bool:
    """Return whether this process can create a file in a folder."""
    mark = Path(folder) / f".torchkata-{os.getpid()}"
    try:
        mark.touch(exist_ok=False)
    except OSError:
        return False
    mark.unlink()
    return True


def can_read(path: str) -> bool:
    """Return whether this process can open a file or directory."""
    return succeeds(
        lambda: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    )  # opening a named pipe would block until there is a writer
