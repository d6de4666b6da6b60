"""What a worker can still do, tried by the worker itself: the canary that is sent in before any student's code."""

import contextlib
import ctypes
import os
import resource
import socket
import sys
from collections.abc import Callable, Sequence, Set
from pathlib import Path

from grader.sandbox.confine import CAP_VERSION_3, DEVICES, NEW_MOUNTS, libc

OUTSIDE = ("/", "/usr", "/etc", "/dev", "/dev/shm", "/runtime", "/sites/0", "/var/tmp")
LIMITED = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC")
GET_NO_NEW_PRIVS = 39
ASK_PERSONALITY = 0xFFFF_FFFF  # what any process may know of itself, and no library asks


def violations(hidden: Sequence[str], *, gpu: bool, timed: bool) -> list[str]:
    """What this process can do and should not, in words; nothing where the sandbox holds.

    With a GPU its address space has no limit, since CUDA maps more than any, and it can make a socket, as CUDA does.
    One that is `timed` keeps no data where no memory is counted.
    """
    if sys.platform != "linux":
        return ["do whatever its user can: only Linux shuts it in"]
    tries: dict[str, Callable[[], bool]] = {
        "reach anybody through a socket": can_reach_anybody,
        "start a process": can_fork,
        "see other processes": sees_processes,
        "trace a process": lambda: libc.ptrace(0, 0, 0, 0) == 0,
        "make system calls that no library needs": lambda: libc.personality(ASK_PERSONALITY) != -1,
        "slow down what else its user runs": lambda: succeeds(os.setpriority, os.PRIO_USER, 0, 0),
        "leave a mark on a device": lambda: any(succeeds(os.utime, f"/dev/{name}") for name in DEVICES),
        "use devices that keep something": lambda: has_other_devices(gpu=gpu),
        "keep data in links": lambda: timed and succeeds(os.symlink, "data", "link"),
        "make namespaces": lambda: libc.unshare(NEW_MOUNTS) == 0,
        "use some of root's rights": has_rights,
        "gain rights from a program": lambda: libc.prctl(GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1,
        "use resources without limit": lambda: has_no_limit(set(LIMITED) - ({"RLIMIT_AS"} if gpu else set())),
    }
    found = [words for words, does in tries.items() if does()]
    own = {"/dev/shm"} if gpu else set[str]()
    found += [f"write to {folder}" for folder in OUTSIDE if folder not in own and can_write(folder)][:1]
    return found + [f"read {path}" for path in hidden if readable(path)][:1]


def can_reach_anybody() -> bool:
    """Whether a socket can be had that sends, or that is let try to connect: names of services are a network, too.

    Of two sockets that are a pair, those of datagrams can be taken apart, and then each be another pair's.
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
    """Whether the system lets it look for somebody, found or not."""
    try:
        made.connect("\0nobody")
    except PermissionError:
        return False
    except OSError:
        return True
    return True


def succeeds(function: Callable[..., object], *arguments: object) -> bool:
    """Whether the system lets it."""
    try:
        function(*arguments)
    except OSError:
        return False
    return True


def has_other_devices(*, gpu: bool) -> bool:
    """Whether /dev has more than it must: a terminal is a line between two."""
    own, names = {*DEVICES, *(["shm"] if gpu else [])}, {path.name for path in Path("/dev").iterdir()}
    return any(name not in own and not (gpu and name.startswith("nvidia")) for name in names)


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
    return succeeds(lambda: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)))  # a pipe would wait for a writer
