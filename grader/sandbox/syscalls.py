"""The system calls that a worker may make: what Python, NumPy and torch need, and nothing that the kernel has besides.

A call that is not named here does not exist for a worker (ENOSYS), however new the kernel: libraries then do without.
libseccomp knows the numbers of this machine; the worker installs the program last (`confine.py`).
"""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from grader.sandbox.confine import INSTRUCTION

OWN_PID = 0x7F3C_5A19  # in the program, where the worker puts its own
WORD = 0xFFFF_FFFF


@dataclass(frozen=True)
class Is:
    """An argument, of which the bits in `mask` are those of `value`."""

    argument: int
    value: int
    mask: int = WORD


Case: TypeAlias = tuple[Is, ...]  # all of it holds


def one_of(argument: int, *values: int) -> tuple[Case, ...]:
    """A case for each of these values."""
    return tuple((Is(argument, value),) for value in values)


ALLOWED = (
    *("read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2"),
    *("open", "openat", "openat2", "creat", "close", "close_range", "lseek", "dup", "dup2", "dup3"),
    *("stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2"),
    *("readlink", "readlinkat", "getdents", "getdents64", "getcwd", "chdir", "fchdir", "umask"),
    *("mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "truncate", "ftruncate"),
    *("fallocate", "fsync", "fdatasync", "fadvise64", "readahead", "sendfile", "copy_file_range"),
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "utimensat", "futimesat", "getxattr", "lgetxattr", "fgetxattr"),
    *("listxattr", "llistxattr", "flistxattr", "poll", "ppoll", "select", "pselect6", "eventfd", "eventfd2"),
    *("epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
    *("timerfd_create", "timerfd_settime", "timerfd_gettime", "signalfd", "signalfd4"),
    *("sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown"),
    *("getsockname", "getpeername", "getsockopt"),
    *("brk", "mmap", "munmap", "mprotect", "mremap", "msync", "mincore", "membarrier", "mseal"),
    *("mlock", "mlock2", "mlockall", "munlock", "munlockall", "pkey_alloc", "pkey_free", "pkey_mprotect"),
    *("mbind", "get_mempolicy", "set_mempolicy", "set_mempolicy_home_node"),
    *("futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "set_robust_list", "set_tid_address"),
    *("rseq", "arch_prctl", "restart_syscall", "exit", "exit_group", "wait4", "waitid"),
    *("getpid", "gettid", "getppid", "getpgrp", "getpgid", "setpgid", "getsid", "setsid", "getgroups", "capget"),
    *("getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend"),
    *("sigaltstack", "pause", "alarm", "getitimer", "setitimer", "nanosleep", "clock_nanosleep"),
    *("clock_gettime", "clock_getres", "gettimeofday", "time", "times", "getrusage", "getrlimit", "setrlimit"),
    *("sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_getattr", "getcpu"),
    *("sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "getpriority", "ioprio_get"),
    *("uname", "sysinfo", "getrandom", "riscv_hwprobe", "riscv_flush_icache"),
)
WITHOUT_TIMING = (  # what holds data that is counted as nobody's memory: 64 MiB in pipes, 16 in links
    *("pipe", "pipe2", "symlink", "symlinkat", "link", "linkat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
NOT_PERMITTED = (  # EPERM, which libraries and people understand better
    *("fork", "vfork", "execve", "execveat"),  # one process has one limit on memory; children would each have their own
    *("ptrace", "tkill", "chroot", "mount", "umount2", "unshare", "setns", "mknod", "mknodat", "memfd_create"),
    *("flock", "inotify_init", "inotify_init1"),  # signals through files that all can read
    *("socket", "connect", "bind", "listen", "accept", "accept4"),
    *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset"),
)

UNIX, STREAM, SEQPACKET, KINDS = 1, 1, 5, 0xF
SHARED = 1  # MAP_SHARED: such pages are counted only while they are looked at
NEW_THREAD = 0x10F00  # CLONE_THREAD, _SIGHAND, _FILES, _FS and _VM …
OF_A_THREAD = 0x17C_0000  # … with which C libraries set what this mask has
FILE_COMMANDS = (0, 1, 2, 3, 4, 1027, 1030, 1032, 1033, 1034)  # duplicates, flags, sizes, seals; no locks, no signals
TERMINAL_OR_QUEUE = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # all that files need of ioctl
OF_ITS_OWN = (
    *(3, 15, 16, 21, 23, 29, 30, 38, 39, 41, 42, 47, 52),  # names of threads, slack of timers, huge pages; rights, read
    *(50, 51, 54, 55, 56, 63, 64, 0x53564D41),  # vectors, pointers and names of memory
)
SOCKET, BUFFERS = 1, (2, 7, 8, 16, 20, 21)  # SOL_SOCKET: sizes, seconds, who it is
ADVICE = (*range(5), 8, 10, 11, *range(14, 21), 22, 23, 25, 102, 103)  # on its own memory alone

LIMITED: dict[str, tuple[Case, ...]] = {  # allowed in these cases alone
    "clone": ((Is(0, NEW_THREAD, WORD & ~OF_A_THREAD),),),  # of clone3 the flags lie in memory, so there is none
    "prctl": one_of(0, *OF_ITS_OWN),
    "madvise": one_of(2, *ADVICE),
    "fcntl": one_of(1, *FILE_COMMANDS),
    "ioctl": one_of(1, *TERMINAL_OR_QUEUE),
    "socketpair": ((Is(0, UNIX), Is(1, STREAM, KINDS)),),  # a pair of datagrams can be taken apart
    "setsockopt": tuple((Is(1, SOCKET), Is(2, option)) for option in BUFFERS),
    **dict.fromkeys(("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), one_of(0, OWN_PID)),
    **dict.fromkeys(("prlimit64", "sched_setaffinity", "sched_setscheduler"), one_of(0, 0)),
    **dict.fromkeys(("sched_setparam", "sched_setattr"), one_of(0, 0)),
    "setpriority": ((Is(0, 0), Is(1, 0)),),  # of this process alone, not of all that its user has
    "ioprio_set": ((Is(0, 1), Is(1, 0)),),
}
WITH_GPU: dict[str, tuple[Case, ...]] = {  # what libcuda does besides; nobody connects to its socket
    "socket": ((Is(0, UNIX), Is(1, SEQPACKET, KINDS)),),
    **dict.fromkeys(("bind", "listen", "memfd_create", "ioctl"), ((),)),
}
WHEN_TIMED: dict[str, tuple[Case, ...]] = {
    "mmap": ((Is(3, 0, SHARED),),),
    **dict.fromkeys(("sched_setaffinity", "socketpair", *WITHOUT_TIMING), ()),
}

IN_OTHER_CASES = {"ioctl": errno.ENOTTY, "madvise": errno.EINVAL, "prctl": errno.EINVAL}  # as a kernel without it says

LOAD, AND, EQUAL, ABOVE, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06  # the kernel's instructions
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # where they lie in what the program looks at
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000


class FilterError(Exception):
    """No filter can be made here; the message says why."""


def program(*, pinned: bool = False, gpu: bool = False) -> bytes:
    """The filter as the kernel takes it; `pinned` workers stay on their core, and their memory is all their own.

    With a `gpu` a worker can listen on a socket of its own network namespace, since the CUDA driver does (`cuInit`).
    Raises FilterError.
    """
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError, OSError):
        raise FilterError("libseccomp is not installed (Debian: apt-get install libseccomp2)") from None
    answers: dict[int, list[bytes]] = {}
    for name, cases in rules(pinned=pinned, gpu=gpu).items():
        number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
        if number >= 0:  # this machine has it, and this libseccomp knows it
            otherwise = refuse(IN_OTHER_CASES.get(name, errno.EPERM))
            answers[number] = [*in_these(cases), *([] if () in cases else [otherwise])]
    code = [step(LOAD, ARCHITECTURE), step(EQUAL, seccomp.system_arch(), 1, 0), refuse(errno.ENOSYS)]
    code.append(step(LOAD, NUMBER))
    for first, last, answer in ranges(answers):
        skipped = len(answer)
        code += [step(AT_LEAST, first, 0, skipped + 1), step(ABOVE, last, skipped, 0), *answer]
    return b"".join([*code, refuse(errno.ENOSYS)])


def ranges(answers: Mapping[int, list[bytes]]) -> Iterator[tuple[int, int, list[bytes]]]:
    """Numbers in a row that have one answer: the first, the last, the answer. A short program is sooner installed."""
    numbered = enumerate(sorted(answers))
    for (_, answer), those in groupby(numbered, lambda pair: (pair[1] - pair[0], answers[pair[1]])):
        numbers = [number for _, number in those]
        yield numbers[0], numbers[-1], answer


def rules(*, pinned: bool, gpu: bool) -> dict[str, tuple[Case, ...]]:
    """In which cases each call is allowed: always where nothing has to hold, never where there is no case."""
    named = dict.fromkeys((*ALLOWED, *WITHOUT_TIMING), ((),)) | dict.fromkeys(NOT_PERMITTED, ())
    return named | LIMITED | (WITH_GPU if gpu else {}) | (WHEN_TIMED if pinned else {})


def in_these(cases: tuple[Case, ...]) -> list[bytes]:
    """Instructions that allow the call in each of these cases, and go on behind them in any other."""
    code: list[bytes] = []
    for case in cases:
        for place, wanted in enumerate(case, 1):
            to_the_next_case = 3 * (len(case) - place) + 1
            code += [
                step(LOAD, ARGUMENTS + 8 * wanted.argument),
                step(AND, wanted.mask),
                step(EQUAL, wanted.value, 0, to_the_next_case),
            ]
        code.append(step(RETURN, ALLOW))
    return code


def step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction, and how many to leave out where a comparison holds, and where it does not."""
    return INSTRUCTION.pack(operation, if_true, if_false, value)


def refuse(error: int) -> bytes:
    """Let the call fail."""
    return step(RETURN, ERROR | error)
