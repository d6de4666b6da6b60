"""Tests of the system-call filter: unknown calls return ENOSYS, and a table lists which known calls are allowed."""

import errno
from errno import EPERM

import pytest

from grader.sandbox import syscalls
from grader.sandbox.inside.confine import INSTRUCTION
from grader.sandbox.syscalls import ALLOW, ERROR, OWN_PID, build_filter

seccomp = pytest.importorskip("pyseccomp")

KINDS = {"ordinary": {}, "timed": {"pinned": True}, "with a GPU": {"gpu": True}}
PAIR, NEW = (1, 1), 0x3D0F00  # an AF_UNIX stream socket; the flags with which glibc creates a thread
REFUSED = ("fork", "execve", "connect", "accept", "accept4", "ptrace", "flock", "chroot", "mount", "tkill")
FEATURES = (  # kernel calls that must not exist
    *("io_setup", "io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "keyctl", "kexec_load", "personality"),
    *("open_tree", "move_mount", "fsopen", "mount_setattr", "quotactl_fd", "landlock_create_ruleset", "memfd_secret"),
    *("shmget", "msgget", "semget", "mq_open", "vmsplice", "timer_create", "pidfd_open", "process_vm_readv", "seccomp"),
)


def find_number(name: str) -> int:
    """Return the number of a call on this machine, or a negative number if it does not exist."""
    found: int = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
    return found


def get_number(name: str) -> int:
    found = find_number(name)
    if found < 0:
        pytest.skip(f"no {name} here")
    return found


def judge(kind: str, call: int, *arguments: int, architecture: int | None = None) -> int:
    """Run the filter on a call as the kernel would, and return 0 or the error number."""
    held = {syscalls.NUMBER: call, syscalls.ARCHITECTURE: architecture or seccomp.system_arch()}
    held |= {syscalls.ARGUMENTS + 8 * place: value & syscalls.WORD for place, value in enumerate(arguments)}
    code, place, word = [*INSTRUCTION.iter_unpack(build_filter(**KINDS[kind]))], 0, 0
    while True:
        operation, if_true, if_false, value = code[place]
        place += 1
        match operation:
            case syscalls.LOAD:
                word = held.get(value, 0)
            case syscalls.AND:
                word &= value
            case syscalls.EQUAL:
                place += if_true if word == value else if_false
            case syscalls.AT_LEAST:
                place += if_true if word >= value else if_false
            case syscalls.ABOVE:
                place += if_true if word > value else if_false
            case syscalls.RETURN:
                return 0 if value == ALLOW else value ^ ERROR


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_system_calls_return_enosys(kind: str) -> None:
    known = {*map(find_number, syscalls.build_rules(pinned=False, gpu=True))}
    refused = [judge(kind, call) for call in range(2000) if call not in known]
    assert set(refused) == {errno.ENOSYS}
    assert judge(kind, 0x4000_0000 + get_number("read")) == errno.ENOSYS, "calls of the x32 ABI must not exist"
    assert judge(kind, get_number("read"), architecture=0x4000_0003) == errno.ENOSYS, "calls of i386 must not exist"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "error"), [*((name, errno.ENOSYS) for name in FEATURES), *((name, EPERM) for name in REFUSED)]
)
def test_risky_kernel_features_are_missing_or_blocked(kind: str, name: str, error: int) -> None:
    assert judge(kind, get_number(name)) == error


OF_ALL_KINDS = [  # name, arguments, error
    *((name, (), 0) for name in ("read", "openat", "futex", "clock_gettime", "munmap", "getrandom")),
    *(("sched_getaffinity", (), 0), ("clone", (NEW,), 0), ("clone", (0x1200011,), EPERM), ("clone", (0x4111,), EPERM)),
    *(("clone", (flags,), EPERM) for flags in (NEW | 0x1000_0000, NEW | 0x4000_0000, NEW & ~0x10000)),
    *(("kill", (OWN_PID, 9), 0), ("kill", (1, 9), EPERM), ("prlimit64", (0, 7), 0), ("prlimit64", (1, 7), EPERM)),
    *(("setpriority", (0, 0, 5), 0), ("setpriority", (2, 0, 5), EPERM), ("setpriority", (0, 1, 5), EPERM)),
    *(("fcntl", (3, 1030, 0), 0), ("fcntl", (3, 6, 0), EPERM), ("prctl", (15,), 0), ("prctl", (22,), errno.EINVAL)),
    *(("setsockopt", (3, 1, 7), 0), ("setsockopt", (3, 1, 26), EPERM), ("madvise", (0, 0, 14), 0)),
    *(("madvise", (0, 0, 12), errno.EINVAL), ("ioctl", (0, 0x5401), 0), ("mmap", (0, 4096, 3, 0x22), 0)),
]
OF_ONE_KIND = {
    "ordinary": [
        *(("mmap", (0, 4096, 3, 0x01), 0), ("socketpair", PAIR, EPERM), ("symlinkat", (), 0)),
        *(("sched_setaffinity", (0,), 0), ("sched_setaffinity", (7,), EPERM), ("ioctl", (0, 0x5412), errno.ENOTTY)),
        *(("socket", (1, 5), EPERM), ("bind", (), EPERM), ("memfd_create", (), EPERM)),
        *(("statx", (3, 0, 0, 0x7FF), errno.ENOSYS), ("mincore", (), EPERM)),
        *(("getsockopt", (3, 1, 3), 0), ("getsockopt", (3, 1, 57), EPERM), ("madvise", (0, 0, 21), errno.EINVAL)),
    ],
    "timed": [
        *(("mmap", (0, 4096, 3, 0x01), EPERM), ("mmap", (0, 4096, 3, 0x03), EPERM), ("socketpair", PAIR, EPERM)),
        *(("pipe2", (), EPERM), ("symlinkat", (), EPERM), ("setxattr", (), EPERM), ("sched_setaffinity", (0,), EPERM)),
    ],
    "with a GPU": [
        *(("socketpair", PAIR, 0), ("socketpair", (1, 0x80001), 0)),
        *(("socketpair", (1, 2), EPERM), ("socketpair", (1, 5), EPERM)),
        *(("ioctl", (3, 0xC020462A), 0), ("socket", (1, 5), 0), ("socket", (1, 0x80005), 0), ("socket", (1, 1), EPERM)),
        *(("socket", (2, 5), EPERM), ("bind", (), 0), ("memfd_create", (), 0)),
    ],
}
CASES = [(kind, *case) for kind in KINDS for case in [*OF_ALL_KINDS, *OF_ONE_KIND[kind]]]


@pytest.mark.parametrize(("kind", "name", "arguments", "error"), CASES)
def test_system_call_filter_checks_arguments(kind: str, name: str, arguments: tuple[int, ...], error: int) -> None:
    assert judge(kind, get_number(name), *arguments) == error
