"""The system calls that a worker may not make: what namespaces and limits leave, and what reaches other processes.

libseccomp turns the lists into a program for the kernel here; the worker installs it last (`confine.py`).
"""

import errno
import tempfile

OWN_PID = 0x7F3C_5A19  # in the program, where the worker puts its own

REFUSED = (
    *("fork", "vfork", "execve", "execveat"),  # one process has one limit on memory; children would each have their own
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "tkill"),
    *("pidfd_open", "pidfd_getfd", "pidfd_send_signal", "move_pages", "migrate_pages"),
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "name_to_handle_at", "open_by_handle_at", "fanotify_init"),
    *("connect", "accept", "accept4"),  # which a socket that it has been given would let it do
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("keyctl", "add_key", "request_key", "personality", "modify_ldt", "iopl", "ioperm", "vhangup", "acct", "syslog"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "quotactl"),
    *("flock", "inotify_init", "inotify_init1", "inotify_add_watch"),  # signals through files that all can read
    "timer_create",  # a timer can send its owner the signal that lets it go on when it has been stopped
    *("memfd_secret", "shmget", "shmat", "msgget", "semget", "mq_open"),  # memory that no limit counts
)
REFUSED_WITHOUT_GPU = ("socket", "memfd_create")
REFUSED_TO_PINNED = ("sched_setaffinity", "pipe", "pipe2", "socketpair")  # 64 MiB in pipes count as nobody's memory
OWN_PROCESS_ONLY = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
THIS_PROCESS_ONLY = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
SIGNS_ON_FILES = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)  # fcntl's locks, leases and watches
BY_KIND_THIS_ONLY = ("setpriority", "ioprio_set")  # their second argument says which process
UNIX, SEQPACKET, KINDS = 1, 5, 0xF  # the one kind of socket that the CUDA driver makes
SHARED = 1  # MAP_SHARED: such pages are counted only while they are looked at
SET_SIGNAL = 10  # F_SETSIG
NEW_THREAD = 0x10000  # CLONE_THREAD
UNKNOWN = -1  # to this libseccomp, which then can't be asked to refuse it


class FilterError(Exception):
    """No filter can be made here; the message says why."""


def program(*, pinned: bool = False, gpu: bool = False) -> bytes:
    """The filter as the kernel takes it; `pinned` workers stay on their core, and their memory is all their own.

    With a `gpu` a worker can listen on a socket of its own network namespace, since the CUDA driver does (`cuInit`);
    nobody connects. Raises FilterError.
    """
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError, OSError):
        raise FilterError("libseccomp is not installed (Debian: apt-get install libseccomp2)") from None
    refuse, unknown = seccomp.ERRNO(errno.EPERM), seccomp.ERRNO(errno.ENOSYS)
    rules: list[tuple[int, str, tuple[seccomp.Arg, ...]]] = [(refuse, name, ()) for name in REFUSED]
    rules += [(refuse, name, ()) for name in REFUSED_TO_PINNED] if pinned else []
    if gpu:
        others = [kind for kind in range(KINDS + 1) if kind != SEQPACKET]
        rules += [(refuse, "socket", (seccomp.Arg(0, seccomp.NE, UNIX),))]
        rules += [(refuse, "socket", (seccomp.Arg(1, seccomp.MASKED_EQ, KINDS, kind),)) for kind in others]
    else:
        rules += [(refuse, name, ()) for name in REFUSED_WITHOUT_GPU]
    rules += [(refuse, "mmap", (seccomp.Arg(3, seccomp.MASKED_EQ, SHARED, SHARED),))] if pinned else []
    rules += [(refuse, "fcntl", (seccomp.Arg(1, seccomp.EQ, SET_SIGNAL),))]  # so can news of a file
    rules += [(refuse, name, (seccomp.Arg(0, seccomp.NE, OWN_PID),)) for name in OWN_PROCESS_ONLY]
    rules += [(refuse, name, (seccomp.Arg(0, seccomp.NE, 0),)) for name in THIS_PROCESS_ONLY]
    rules += [(refuse, name, (seccomp.Arg(1, seccomp.NE, 0),)) for name in BY_KIND_THIS_ONLY]
    rules += [(refuse, "fcntl", (seccomp.Arg(1, seccomp.EQ, command),)) for command in SIGNS_ON_FILES]
    rules += [(refuse, "clone", (seccomp.Arg(0, seccomp.MASKED_EQ, NEW_THREAD, 0),))]
    rules += [(unknown, "clone3", ())]  # its flags lie in memory; the C library then takes clone
    try:
        program = seccomp.SyscallFilter(seccomp.ALLOW)
        for action, name, conditions in rules:
            if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) != UNKNOWN:
                program.add_rule(action, name, *conditions)
        with tempfile.TemporaryFile() as file:
            program.export_bpf(file)
            file.seek(0)
            return file.read()
    except OSError as error:
        raise FilterError(f"libseccomp: {error.strerror}") from None
