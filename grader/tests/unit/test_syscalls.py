"""The filter on system calls: what is not named does not exist, and what is named is allowed as the table says."""

import errno
from collections.abc import Iterator

import pytest

from grader.sandbox import syscalls
from grader.sandbox.confine import INSTRUCTION
from grader.sandbox.syscalls import ALLOW, ERROR, OWN_PID, build_filter

seccomp = pytest.importorskip("pyseccomp")

KINDS = {"ordinary": {}, "timed": {"pinned": True}, "with a GPU": {"gpu": True}}
PAIR, NEW = (1, 1), 0x3D0F00  # a stream of AF_UNIX; what glibc asks for a thread
REFUSED = ("fork", "execve", "connect", "accept", "accept4", "ptrace", "flock", "chroot", "mount", "tkill")
FEATURES = (  # of the kernel, old and new
    *("io_setup", "io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "keyctl", "kexec_load", "personality"),
    *("open_tree", "move_mount", "fsopen", "mount_setattr", "quotactl_fd", "landlock_create_ruleset", "memfd_secret"),
    *("shmget", "msgget", "semget", "mq_open", "vmsplice", "timer_create", "pidfd_open", "process_vm_readv", "seccomp"),
)


def resolved(name: str) -> int:
    """The number of a call on this machine, negative where there is none."""
    found: int = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
    return found


def number(name: str) -> int:
    """The same; skips where there is none."""
    found = resolved(name)
    if found < 0:
        pytest.skip(f"no {name} here")
    return found


def verdict(kind: str, call: int, *arguments: int, architecture: int | None = None) -> int:
    """What the program says of a call, run here as the kernel would: 0, or the error."""
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
def test_a_call_that_the_kernel_may_get_one_day_does_not_exist(kind: str) -> None:
    known = {*map(resolved, syscalls.build_rules(pinned=False, gpu=True))}
    refused = [verdict(kind, call) for call in range(2000) if call not in known]
    assert set(refused) == {errno.ENOSYS}
    assert verdict(kind, 0x4000_0000 + number("read")) == errno.ENOSYS, "another way to number them (x32)"
    assert verdict(kind, number("read"), architecture=0x4000_0003) == errno.ENOSYS, "or another architecture (i386)"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FEATURES)
def test_what_the_kernel_offers_beyond_files_memory_and_threads_does_not_exist(kind: str, name: str) -> None:
    assert verdict(kind, number(name)) == errno.ENOSYS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REFUSED)
def test_what_programs_expect_to_be_refused_is_not_permitted(kind: str, name: str) -> None:
    assert verdict(kind, number(name)) == errno.EPERM


def cases() -> Iterator[tuple[str, str, tuple[int, ...], int]]:
    """Kind of worker, call, arguments, error."""
    for kind in KINDS:
        for name in ("read", "openat", "futex", "clock_gettime", "munmap", "getrandom", "sched_getaffinity"):
            yield kind, name, (), 0
        yield kind, "clone", (NEW,), 0
        for flags in (0x1200011, NEW | 0x1000_0000, NEW | 0x4000_0000, NEW & ~0x10000, 0x4111):
            yield kind, "clone", (flags,), errno.EPERM
        yield kind, "kill", (OWN_PID, 9), 0
        yield kind, "kill", (1, 9), errno.EPERM
        yield kind, "prlimit64", (0, 7), 0
        yield kind, "prlimit64", (1, 7), errno.EPERM
        yield kind, "setpriority", (0, 0, 5), 0
        yield kind, "setpriority", (2, 0, 5), errno.EPERM
        yield kind, "setpriority", (0, 1, 5), errno.EPERM
        yield kind, "fcntl", (3, 1030, 0), 0
        yield kind, "fcntl", (3, 6, 0), errno.EPERM
        yield kind, "prctl", (15,), 0
        yield kind, "prctl", (22,), errno.EINVAL
        yield kind, "setsockopt", (3, 1, 7), 0
        yield kind, "setsockopt", (3, 1, 26), errno.EPERM
        yield kind, "madvise", (0, 0, 14), 0
        yield kind, "madvise", (0, 0, 12), errno.EINVAL
        yield kind, "ioctl", (0, 0x5401), 0
        yield kind, "mmap", (0, 4096, 3, 0x22), 0
    yield from (
        ("ordinary", "mmap", (0, 4096, 3, 0x01), 0),
        ("timed", "mmap", (0, 4096, 3, 0x01), errno.EPERM),
        ("timed", "mmap", (0, 4096, 3, 0x03), errno.EPERM),
        ("ordinary", "socketpair", PAIR, errno.EPERM),
        ("with a GPU", "socketpair", PAIR, 0),
        ("with a GPU", "socketpair", (1, 0x80001), 0),
        ("with a GPU", "socketpair", (1, 2), errno.EPERM),
        ("with a GPU", "socketpair", (1, 5), errno.EPERM),
        ("timed", "socketpair", PAIR, errno.EPERM),
        ("ordinary", "statx", (3, 0, 0, 0x7FF), 0),
        ("ordinary", "statx", (3, 0, 0, 0x47FF), errno.EPERM),
        ("ordinary", "getsockopt", (3, 1, 3), 0),
        ("ordinary", "getsockopt", (3, 1, 57), errno.EPERM),
        ("ordinary", "madvise", (0, 0, 21), errno.EINVAL),
        ("ordinary", "mincore", (), errno.EPERM),
        ("timed", "pipe2", (), errno.EPERM),
        ("timed", "symlinkat", (), errno.EPERM),
        ("timed", "setxattr", (), errno.EPERM),
        ("ordinary", "symlinkat", (), 0),
        ("timed", "sched_setaffinity", (0,), errno.EPERM),
        ("ordinary", "sched_setaffinity", (0,), 0),
        ("ordinary", "sched_setaffinity", (7,), errno.EPERM),
        ("ordinary", "ioctl", (0, 0x5412), errno.ENOTTY),
        ("with a GPU", "ioctl", (3, 0xC020462A), 0),
        ("ordinary", "socket", (1, 5), errno.EPERM),
        ("with a GPU", "socket", (1, 5), 0),
        ("with a GPU", "socket", (1, 0x80005), 0),
        ("with a GPU", "socket", (1, 1), errno.EPERM),
        ("with a GPU", "socket", (2, 5), errno.EPERM),
        ("ordinary", "bind", (), errno.EPERM),
        ("with a GPU", "bind", (), 0),
        ("ordinary", "memfd_create", (), errno.EPERM),
        ("with a GPU", "memfd_create", (), 0),
    )


@pytest.mark.parametrize(("kind", "name", "arguments", "error"), [*cases()])
def test_a_call_is_allowed_by_its_arguments(kind: str, name: str, arguments: tuple[int, ...], error: int) -> None:
    assert verdict(kind, number(name), *arguments) == error
