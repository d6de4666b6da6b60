"""What a worker gives up between its fork and the student's first line: its view of the machine, resources, privileges.

Linux's own calls through ctypes, since Python 3.11 has no `unshare`.
"""

import base64
import contextlib
import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NEW_MOUNTS, NEW_IPC, NEW_USERS, NEW_PIDS, NEW_NETWORK = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND = 1, 2, 4, 8, 32, 4096
SET_DUMPABLE, SET_KEEP_CAPS, SET_SECCOMP, SET_NO_NEW_PRIVS, CAP_AMBIENT, CAP_AMBIENT_CLEAR_ALL = 4, 8, 22, 38, 47, 4
FILTER = 2
CAP_VERSION_3 = 0x20080522
READ_ANYTHING = 1 << 2  # CAP_DAC_READ_SEARCH

DEVICES = ("null", "zero", "full", "random", "urandom")  # which keep nothing that is written there
SCRATCH_MIB = 256
SCRATCH_FILES = 4096
SHARED_MEMORY_MIB = 16  # of /dev/shm, where the CUDA driver keeps a little
OPEN_FILES = 256
THREADS = 64
INSTRUCTION, NUMBER = struct.Struct("<HBBI"), struct.Struct("<I")

libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Confinement:
    """How far workers are shut in."""

    namespaces: bool  # inside bubblewrap: processes and /tmp of their own, no /proc
    change_user: bool  # started by root: workers become a user that owns nothing
    keep_reading: bool  # … who must still reach a Python that lies in root's own directory
    memory_mib: int
    cpu_seconds: int
    filter: str  # which system calls are refused, a program in base64; empty where there is none
    own_pid: int  # in that program, to be replaced by the worker's own
    core: int | None = None  # the only one it may run on, where it is timed
    gpu: bool = False  # it needs /proc, /dev/shm, and address space without end


def call(result: int, what: str) -> None:
    """Turn a failed call into an OSError."""
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def new_process_space() -> Iterator[None]:
    """Within, a fork's child is the first process of a PID namespace: when it ends, all that it started ends."""
    home = os.open("/proc/self/ns/pid", os.O_RDONLY)
    call(libc.unshare(NEW_PIDS), "unshare")
    try:
        yield
    finally:
        call(libc.setns(home, NEW_PIDS), "setns")
        os.close(home)


def fix_devices() -> None:
    """Nobody can leave a mark on a device's file, such as a time: what is written there still reaches the device."""
    for path in Path("/dev").iterdir():
        if path.is_char_device():
            flags = os.statvfs(path).f_flag & (NO_SUID | NO_DEV | NO_EXEC)
            options = REMOUNT | BIND | READ_ONLY | flags
            call(libc.mount(None, bytes(path), None, options, None), f"mount {path}")


def own_namespaces(confinement: Confinement) -> None:
    """Share no mounts, no network and no IPC with another worker, and be a user whose threads are counted alone.

    A /proc can be mounted only by who owns the PID namespace, so before there is another user namespace.
    """
    if confinement.gpu:
        call(libc.unshare(NEW_MOUNTS), "unshare")
        call(libc.mount(b"proc", b"/proc", b"proc", NO_SUID | NO_DEV, None), "mount /proc")
    if not confinement.change_user:
        user, group = os.getuid(), os.getgid()
        call(libc.unshare(NEW_USERS), "unshare")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    call(libc.unshare(NEW_MOUNTS | NEW_IPC | NEW_NETWORK), "unshare")


def private_files(*, gpu: bool) -> None:
    """A new, empty /tmp of limited size, and nothing in /proc.

    The CUDA driver needs this process' own part of /proc, and a /dev/shm.
    """
    options = f"size={SCRATCH_MIB}m,nr_inodes={SCRATCH_FILES},mode=1777".encode()
    call(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", NO_SUID | NO_DEV, options), "mount /tmp")
    if gpu:
        options = f"size={SHARED_MEMORY_MIB}m,mode=1777".encode()
        call(libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", NO_SUID | NO_DEV, options), "mount /dev/shm")
    else:
        call(libc.mount(b"tmpfs", b"/proc", b"tmpfs", NO_SUID | NO_DEV, b"size=4k,mode=555"), "mount /proc")


def limit_resources(confinement: Confinement) -> None:
    """Limits that hold in C code, too; a platform that lacks one goes without."""
    tasks = 0 if confinement.namespaces or confinement.change_user else own_tasks()
    for name, value in (
        ("RLIMIT_AS", resource.RLIM_INFINITY if confinement.gpu else mapped_bytes() + confinement.memory_mib * 2**20),
        ("RLIMIT_CPU", confinement.cpu_seconds),
        ("RLIMIT_FSIZE", SCRATCH_MIB * 2**20),
        ("RLIMIT_NOFILE", OPEN_FILES),
        ("RLIMIT_NPROC", tasks + THREADS),
        ("RLIMIT_CORE", 0),
    ):
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (bound, bound))


def write_no_more() -> None:
    """No file can be written: what is kept in files is in nobody's memory."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def mapped_bytes() -> int:
    """The address space that this process has taken already, most of it torch's libraries."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0


def own_tasks() -> int:
    """How many processes and threads this user runs now: the limit counts them, too."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            facts = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            count += int(facts["Threads"]) if int(facts["Uid"].split()[0]) == os.getuid() else 0
    return count


def drop_privileges(confinement: Confinement, user: int) -> None:
    """Become `user` if that is asked for; no capabilities, and none to be gained."""
    if sys.platform != "linux":
        return
    if confinement.change_user:
        libc.prctl(SET_KEEP_CAPS, int(confinement.keep_reading), 0, 0, 0)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc.prctl(CAP_AMBIENT, CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    keep_capabilities(READ_ANYTHING if confinement.keep_reading else 0)
    call(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def keep_capabilities(kept: int) -> None:
    """Give up every capability but these."""
    header = (ctypes.c_uint32 * 2)(CAP_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    call(libc.capset(header, data), "capset")


def refuse_system_calls(confinement: Confinement) -> None:
    """Install the filter, if there is one; there is no way back."""
    if not confinement.filter:
        return
    code = bytearray(base64.b64decode(confinement.filter))
    code = code.replace(NUMBER.pack(confinement.own_pid), NUMBER.pack(os.getpid()))
    held = (ctypes.c_char * len(code)).from_buffer(code)
    program = struct.pack("@HP", len(code) // INSTRUCTION.size, ctypes.addressof(held))
    call(libc.prctl(SET_SECCOMP, FILTER, program, 0, 0), "seccomp")


def hide_memory() -> None:
    """Let no process of the same user look into this one or trace it."""
    if sys.platform == "linux":
        libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)
