"""The system call filter: a worker may make only the system calls that Python, NumPy and torch need.

A call that is not listed here fails with ENOSYS, as if it did not exist in this kernel. Libraries then use a fallback,
and calls added in newer kernels are rejected as well. A worker can change kernel state that outlives the worker, such
as the set of cached pages and names, or a counter. Calls that return such state are rejected, because otherwise a later
submission could read what an earlier one left there. libseccomp translates the names of calls to the numbers on this
machine. The worker installs the filter as the last step of its confinement (`confine.py`).
"""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from grader.sandbox.inside.confine import INSTRUCTION

OWN_PID = 0x7F3C_5A19  # placeholder for the worker's process id in the filter
WORD = 0xFFFF_FFFF


@dataclass(frozen=True)
class Arg:
    """A condition on an argument: the bits selected by `mask` must equal those of `value`."""

    argument: int
    value: int
    mask: int = WORD


Case: TypeAlias = tuple[Arg, ...]  # a case applies if all of its conditions hold


def match_any(argument: int, *values: int) -> tuple[Case, ...]:
    """Return cases that match an argument equal to any of these values."""
    return tuple((Arg(argument, value),) for value in values)


ALLOWED = (
    *("read", "readv", "pread64", "preadv", "write", "writev", "pwrite64", "pwritev"),
    *("open", "openat", "creat", "close", "close_range", "lseek", "dup", "dup2", "dup3"),
    *("stat", "lstat", "fstat", "newfstatat", "access", "faccessat", "faccessat2"),
    *("readlink", "readlinkat", "getdents", "getdents64", "getcwd", "chdir", "fchdir", "umask"),
    *("mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "truncate", "ftruncate"),
    *("fallocate", "fsync", "fdatasync", "sendfile", "copy_file_range"),
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "utimensat", "futimesat", "getxattr", "lgetxattr", "fgetxattr"),
    *("listxattr", "llistxattr", "flistxattr", "poll", "ppoll", "select", "pselect6", "eventfd", "eventfd2"),
    *("epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
    *("timerfd_create", "timerfd_settime", "timerfd_gettime", "signalfd", "signalfd4"),
    *("sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown"),
    *("getsockname", "getpeername"),
    *("brk", "mmap", "munmap", "mprotect", "mremap", "msync", "membarrier", "mseal"),
    *("mlock", "mlock2", "mlockall", "munlock", "munlockall", "pkey_alloc", "pkey_free", "pkey_mprotect"),
    *("futex", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", "set_robust_list", "set_tid_address"),
    *("rseq", "arch_prctl", "restart_syscall", "exit", "exit_group", "wait4", "waitid"),
    *("getpid", "gettid", "getppid", "getpgrp", "getpgid", "setpgid", "getsid", "setsid", "getgroups", "capget"),
    *("getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend"),
    *("sigaltstack", "pause", "alarm", "getitimer", "setitimer", "nanosleep", "clock_nanosleep"),
    *("clock_gettime", "clock_getres", "gettimeofday", "time", "times", "getrlimit", "setrlimit"),
    *("sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_getattr", "getcpu"),
    *("sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "getpriority", "ioprio_get"),
    *("uname", "getrandom", "riscv_hwprobe", "riscv_flush_icache"),
)
UNLESS_TIMED = (  # links and attributes can store up to 16 MiB of data that is not counted as memory
    *("symlink", "symlinkat", "link", "linkat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
NOT_PERMITTED = (  # fail with EPERM, which is a clearer error than ENOSYS for libraries and people
    *("fork", "vfork", "execve", "execveat"),  # each child would have a separate memory limit
    *("ptrace", "tkill", "chroot", "mount", "umount2", "unshare", "setns", "mknod", "mknodat", "memfd_create"),
    *("flock", "inotify_init", "inotify_init1"),  # can send signals through files that every worker can read
    *("pipe", "pipe2", "socketpair"),  # numbered by the kernel across all processes
    *("mincore", "readahead", "fadvise64", "getrusage"),  # reveal or change the contents of the page cache
    *("sysinfo", "statfs", "fstatfs"),  # reveal how much memory and disk space all processes use
    *("socket", "connect", "bind", "listen", "accept", "accept4"),
    *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset"),
)

UNIX, STREAM, SEQPACKET, KINDS = 1, 1, 5, 0xF
SHARED = 1  # MAP_SHARED: shared pages are counted only while they are mapped
NEW_THREAD = 0x10F00  # CLONE_THREAD, _SIGHAND, _FILES, _FS and _VM
THREAD_SETUP = 0x17C_0000  # additional flags that C libraries set
FCNTL_COMMANDS = (0, 1, 2, 3, 4, 1027, 1030, 1032, 1033, 1034)  # duplicates, flags, sizes, seals; no locks or signals
IOCTL_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # all ioctl requests needed for files
PRCTL_OPTIONS = (
    *(3, 15, 16, 21, 23, 29, 30, 38, 39, 41, 42, 47, 52),  # thread names, timer slack, huge pages; reading privileges
    *(50, 51, 54, 55, 56, 63, 64, 0x53564D41),  # vector lengths, pointer tags, names of memory regions
)
SOCKET, SOCKET_OPTIONS = 1, (2, 7, 8, 16, 20, 21)  # SOL_SOCKET: buffer sizes, timeouts, credentials
SOCKET_FACTS = (3, 4, 7, 8, 20, 21, 30, 38, 39)  # type, error, buffers, timeouts; not the cookie, which counts sockets
ADVICE = (*range(5), 8, 10, 11, *range(14, 20), 22, 23, 102, 103)  # advice that affects only the process's own memory

CONDITIONAL: dict[str, tuple[Case, ...]] = {  # allowed only in these cases
    # clone3 is not allowed because its flags are in memory, where a filter can't read them
    "clone": ((Arg(0, NEW_THREAD, WORD & ~THREAD_SETUP),),),
    "prctl": match_any(0, *PRCTL_OPTIONS),
    "madvise": match_any(2, *ADVICE),
    "fcntl": match_any(1, *FCNTL_COMMANDS),
    "ioctl": match_any(1, *IOCTL_REQUESTS),
    "getsockopt": tuple((Arg(1, SOCKET), Arg(2, option)) for option in SOCKET_FACTS),
    "setsockopt": tuple((Arg(1, SOCKET), Arg(2, option)) for option in SOCKET_OPTIONS),
    **dict.fromkeys(("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), match_any(0, OWN_PID)),
    **dict.fromkeys(("prlimit64", "sched_setaffinity", "sched_setscheduler"), match_any(0, 0)),
    **dict.fromkeys(("sched_setparam", "sched_setattr"), match_any(0, 0)),
    "setpriority": ((Arg(0, 0), Arg(1, 0)),),  # only for this process, not for all processes of its user
    "ioprio_set": ((Arg(0, 1), Arg(1, 0)),),
}
WITH_GPU: dict[str, tuple[Case, ...]] = {  # additional calls that libcuda may need; `connect` stays forbidden
    "socket": ((Arg(0, UNIX), Arg(1, SEQPACKET, KINDS)),),
    "socketpair": ((Arg(0, UNIX), Arg(1, STREAM, KINDS)),),  # a pair of datagram sockets can be reconnected
    **dict.fromkeys(("bind", "listen", "memfd_create", "ioctl", "pipe", "pipe2"), ((),)),
    **dict.fromkeys(("sysinfo", "statfs", "fstatfs", "getrusage"), ((),)),  # also shown in the /proc of a GPU worker
    **dict.fromkeys(("mbind", "get_mempolicy", "set_mempolicy", "set_mempolicy_home_node"), ((),)),
}
WITHOUT_NAMESPACES: dict[str, tuple[Case, ...]] = {"mincore": ((),)}  # a probe needs it if /tmp may be on a disk
WHEN_TIMED: dict[str, tuple[Case, ...]] = {
    "mmap": ((Arg(3, 0, SHARED),),),
    **dict.fromkeys(("sched_setaffinity", *UNLESS_TIMED), ()),
}

ERRORS = {"ioctl": errno.ENOTTY, "madvise": errno.EINVAL, "prctl": errno.EINVAL}  # as in a kernel without the call

LOAD, AND, EQUAL, ABOVE, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06  # BPF opcodes
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in `struct seccomp_data`
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000


class FilterError(Exception):
    """Raised if the filter can't be built on this machine. The message gives the reason."""


def build_filter(*, pinned: bool = False, gpu: bool = False, namespaces: bool = True) -> bytes:
    """Return the filter as a BPF program.

    Args:
        pinned: whether the worker is timed. It must then stay on its core and use only memory that counts as its own.
        gpu: whether the worker may listen on a socket in its own network namespace, as CUDA does in `cuInit`.
        namespaces: whether the worker has its own /tmp in memory.

    Raises:
        FilterError: libseccomp is not installed.
    """
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError, OSError):
        raise FilterError("libseccomp is not installed (Debian: apt-get install libseccomp2)") from None
    answers: dict[int, list[bytes]] = {}
    for name, cases in build_rules(pinned=pinned, gpu=gpu, namespaces=namespaces).items():
        number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
        if number >= 0:  # the call exists on this machine and in this version of libseccomp
            denied = encode_error(ERRORS.get(name, errno.EPERM))
            answers[number] = [*compile_cases(cases), *([] if () in cases else [denied])]
    code = [encode(LOAD, ARCHITECTURE), encode(EQUAL, seccomp.system_arch(), 1, 0), encode_error(errno.ENOSYS)]
    code.append(encode(LOAD, NUMBER))
    for first, last, answer in group_numbers(answers):
        skipped = len(answer)
        code += [encode(AT_LEAST, first, 0, skipped + 1), encode(ABOVE, last, skipped, 0), *answer]
    return b"".join([*code, encode_error(errno.ENOSYS)])


def group_numbers(answers: Mapping[int, list[bytes]]) -> Iterator[tuple[int, int, list[bytes]]]:
    """Yield (first, last, answer) for ranges of call numbers with the same answer. This keeps the program short."""
    numbered = enumerate(sorted(answers))
    for (_, answer), pairs in groupby(numbered, lambda pair: (pair[1] - pair[0], answers[pair[1]])):
        numbers = [number for _, number in pairs]
        yield numbers[0], numbers[-1], answer


def build_rules(*, pinned: bool, gpu: bool, namespaces: bool = True) -> dict[str, tuple[Case, ...]]:
    """Return the cases in which each call is allowed. A call without cases is forbidden.

    A case without conditions always applies.
    """
    named = dict.fromkeys((*ALLOWED, *UNLESS_TIMED), ((),)) | dict.fromkeys(NOT_PERMITTED, ())
    shared = {} if namespaces else WITHOUT_NAMESPACES
    return named | CONDITIONAL | shared | (WITH_GPU if gpu else {}) | (WHEN_TIMED if pinned else {})


def compile_cases(cases: tuple[Case, ...]) -> list[bytes]:
    """Return instructions that allow the call in any of these cases. Otherwise, execution continues after them."""
    code: list[bytes] = []
    for case in cases:
        for place, condition in enumerate(case, 1):
            to_the_next_case = 3 * (len(case) - place) + 1
            code += [
                encode(LOAD, ARGUMENTS + 8 * condition.argument),
                encode(AND, condition.mask),
                encode(EQUAL, condition.value, 0, to_the_next_case),
            ]
        code.append(encode(RETURN, ALLOW))
    return code


def encode(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Encode an instruction. A comparison skips `if_true` or `if_false` instructions, depending on its result."""
    return INSTRUCTION.pack(operation, if_true, if_false, value)


def encode_error(error: int) -> bytes:
    """Encode the instruction that makes the call fail with this error."""
    return encode(RETURN, ERROR | error)
