"""The restrictions of a worker, which are applied after it is forked and before any student code runs.

They limit what the worker can see of the machine, the resources that it can use, and its privileges. This module makes
system calls through ctypes, because Python 3.11 does not provide `unshare`.
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

from torchkata.inside.process_limits import STACK, measure_address_space

NEW_MOUNTS, NEW_IPC, NEW_USERS, NEW_PIDS, NEW_NETWORK = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND = 1, 2, 4, 8, 32, 4096
SET_DUMPABLE, SET_KEEP_CAPS, SET_SECCOMP, SET_NO_NEW_PRIVS, CAP_AMBIENT, CAP_AMBIENT_CLEAR_ALL = 4, 8, 22, 38, 47, 4
FILTER = 2
CAP_VERSION_3 = 0x20080522
READ_ANYTHING = 1 << 2  # CAP_DAC_READ_SEARCH

DEVICES = ("null", "zero", "full", "random", "urandom")  # devices that do not store the data written to them
SCRATCH_MIB = 256
SCRATCH_FILES = 4096
SHARED_MEMORY_MIB = 16  # size of /dev/shm, of which the CUDA driver uses a small part
OPEN_FILES = 256
THREADS = 64
QUEUED_SIGNALS = 64  # far below the user's limit, which applies to all workers together
FIRST_USER = 2_100_000_000  # above the ids that SSSD and containers use (see systemd's documentation, "UIDs and GIDs")
USERS = 2**31 - 1 - FIRST_USER  # number of unused ids up to 2³¹
INSTRUCTION, NUMBER = struct.Struct("<HBBI"), struct.Struct("<I")

libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Confinement:
    """The restrictions that apply to all workers of a zygote."""

    namespaces: bool  # true in bubblewrap: each worker has its own PID namespace and /tmp, and no /proc
    change_user: bool  # true if the grader runs as root: workers run as a user that owns nothing
    keep_reading: bool  # true if Python is in root's home directory, which this user must then be able to read
    memory_mib: int
    cpu_seconds: int
    filter: str  # the system call filter in base64, or "" if there is none
    own_pid: int  # placeholder in the filter that is replaced by the worker's process id
    core: int | None = None  # the only core on which a timed worker may run
    gpu: bool = False  # whether workers use CUDA, which needs /proc, /dev/shm and unlimited address space


def check_call(result: int, what: str) -> None:
    """Raise OSError if a C function has returned an error."""
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def new_pid_namespace() -> Iterator[None]:
    """Let the next fork create the first process of a PID namespace, so that its descendants exit with it."""
    outer = os.open("/proc/self/ns/pid", os.O_RDONLY)
    check_call(libc.unshare(NEW_PIDS), "unshare")
    try:
        yield
    finally:
        check_call(libc.setns(outer, NEW_PIDS), "setns")
        os.close(outer)


def remount_devices_read_only() -> None:
    """Remount device files read-only. Workers can still write to devices, but can't change file attributes."""
    for path in Path("/dev").iterdir():
        if path.is_char_device():
            flags = os.statvfs(path).f_flag & (NO_SUID | NO_DEV | NO_EXEC)
            options = REMOUNT | BIND | READ_ONLY | flags
            check_call(libc.mount(None, bytes(path), None, options, None), f"mount {path}")


def enter_namespaces(confinement: Confinement) -> None:
    """Enter new mount, network and IPC namespaces, and a new user namespace unless the user changes.

    With a user namespace, the kernel counts the threads of this worker separately. The namespace is created after /proc
    is mounted, because only the owner of a PID namespace can mount its /proc.
    """
    if confinement.gpu:
        check_call(libc.unshare(NEW_MOUNTS), "unshare")
        check_call(libc.mount(b"proc", b"/proc", b"proc", NO_SUID | NO_DEV, None), "mount /proc")
    if not confinement.change_user:
        user, group = os.getuid(), os.getgid()
        check_call(libc.unshare(NEW_USERS), "unshare")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    check_call(libc.unshare(NEW_MOUNTS | NEW_IPC | NEW_NETWORK), "unshare")


def mount_private_files(*, gpu: bool) -> None:
    """Mount an empty /tmp of limited size, and hide /proc.

    With a GPU, mount /dev/shm and a /proc that shows only this process, because the CUDA driver needs them.
    """
    options = f"size={SCRATCH_MIB}m,nr_inodes={SCRATCH_FILES},mode=1777".encode()
    check_call(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", NO_SUID | NO_DEV, options), "mount /tmp")
    if gpu:
        options = f"size={SHARED_MEMORY_MIB}m,mode=1777".encode()
        check_call(libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", NO_SUID | NO_DEV, options), "mount /dev/shm")
    else:
        check_call(libc.mount(b"tmpfs", b"/proc", b"tmpfs", NO_SUID | NO_DEV, b"size=4k,mode=555"), "mount /proc")


def limit_resources(confinement: Confinement) -> None:
    """Set resource limits, which also apply to C code. Limits that the platform does not support are skipped."""
    tasks = 0 if confinement.namespaces or confinement.change_user else count_tasks()
    for name, value in (
        (
            "RLIMIT_AS",
            resource.RLIM_INFINITY if confinement.gpu else measure_address_space() + confinement.memory_mib * 2**20,
        ),
        ("RLIMIT_CPU", confinement.cpu_seconds),
        ("RLIMIT_FSIZE", SCRATCH_MIB * 2**20),
        ("RLIMIT_NOFILE", OPEN_FILES),
        ("RLIMIT_NPROC", tasks + THREADS),
        ("RLIMIT_SIGPENDING", QUEUED_SIGNALS),
        ("RLIMIT_STACK", STACK),
        ("RLIMIT_CORE", 0),
    ):
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (bound, bound))


def forbid_file_writes() -> None:
    """Forbid writing to files, because the contents of files are not counted as memory of the process."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def count_tasks() -> int:
    """Return the number of processes and threads of this user, because RLIMIT_NPROC includes them."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            facts = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            count += int(facts["Threads"]) if int(facts["Uid"].split()[0]) == os.getuid() else 0
    return count


def pick_user() -> int:
    """Return a random unused user id, so that a dying worker does not count towards the next worker's thread limit.

    Sequential ids would reveal to a worker how many workers were started before it.
    """
    return FIRST_USER + int.from_bytes(os.urandom(8)) % USERS


def drop_privileges(confinement: Confinement, user: int) -> None:
    """Change to `user` if the grader runs as root, drop all capabilities, and prevent new ones from being gained."""
    if sys.platform != "linux":
        return
    if confinement.change_user:
        libc.prctl(SET_KEEP_CAPS, int(confinement.keep_reading), 0, 0, 0)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc.prctl(CAP_AMBIENT, CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    drop_capabilities(READ_ANYTHING if confinement.keep_reading else 0)
    check_call(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def drop_capabilities(kept: int) -> None:
    """Drop every capability except those in the mask `kept`."""
    header = (ctypes.c_uint32 * 2)(CAP_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    check_call(libc.capset(header, data), "capset")


def install_filter(confinement: Confinement) -> None:
    """Install the system call filter, if there is one. Once installed, a filter can't be removed."""
    if not confinement.filter:
        return
    code = bytearray(base64.b64decode(confinement.filter))
    code = code.replace(NUMBER.pack(confinement.own_pid), NUMBER.pack(os.getpid()))
    held = (ctypes.c_char * len(code)).from_buffer(code)
    program = struct.pack("@HP", len(code) // INSTRUCTION.size, ctypes.addressof(held))
    check_call(libc.prctl(SET_SECCOMP, FILTER, program, 0, 0), "seccomp")


def hide_memory() -> None:
    """Prevent other processes of the user from tracing this process or reading its memory."""
    if sys.platform == "linux":
        libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)
