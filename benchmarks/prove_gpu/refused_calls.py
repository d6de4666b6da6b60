"""Start the driver under the filter of GPU workers, and print the system calls that the filter refuses.

Each refused call is reported to this process by seccomp's user notification. This process counts it and answers with
the same error as the filter does.
"""

import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import time
from collections import Counter

from grader.sandbox import syscalls
from grader.sandbox.inside.confine import INSTRUCTION, NUMBER, SET_NO_NEW_PRIVS, libc

SECONDS = 12.0  # how long the driver may take
DRIVER = 'import ctypes; print("cuInit:", ctypes.CDLL("libcuda.so.1").cuInit(0))'
NOTIFY = 0x7FC0_0000
SET_FILTER, NEW_LISTENER = 1, 8
RECEIVE, SEND = 0xC050_2100, 0xC018_2101  # ioctl requests
CALL, ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")  # struct seccomp_notif, struct seccomp_notif_resp


def install(program: bytes) -> int:
    """Install the filter, which reports refused calls instead of answering them. Return the listener's descriptor."""
    import pyseccomp as seccomp

    code = bytearray(program.replace(NUMBER.pack(syscalls.OWN_PID), NUMBER.pack(os.getpid())))
    for start in range(0, len(code), INSTRUCTION.size):
        operation, _, _, value = INSTRUCTION.unpack_from(code, start)
        if operation == syscalls.RETURN and value != syscalls.ALLOW:
            INSTRUCTION.pack_into(code, start, operation, 0, 0, NOTIFY)
    held = (ctypes.c_char * len(code)).from_buffer(code)
    pointer = struct.pack("@HP", len(code) // INSTRUCTION.size, ctypes.addressof(held))
    libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, "seccomp")
    listener: int = libc.syscall(number, SET_FILTER, NEW_LISTENER, pointer)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


def listen(listener: int) -> Counter[str]:
    """Answer refused calls until the process has ended or its time is up, and count them by name."""
    import pyseccomp as seccomp

    known = syscalls.build_rules(pinned=False, gpu=True)
    refused, poll, until = Counter[str](), select.poll(), time.monotonic() + SECONDS
    poll.register(listener, select.POLLIN)
    while (ready := poll.poll(max(0.0, until - time.monotonic()) * 1e3)) and ready[0][1] & select.POLLIN:
        call = bytearray(CALL.size)
        try:
            fcntl.ioctl(listener, RECEIVE, call)
            name = seccomp.resolve_syscall(seccomp.Arch.NATIVE, CALL.unpack(call)[3])
            name = name.decode() if isinstance(name, bytes) else str(name)
            error = syscalls.ERRORS.get(name, errno.EPERM) if name in known else errno.ENOSYS
            fcntl.ioctl(listener, SEND, ANSWER.pack(CALL.unpack(call)[0], 0, -error, 0))
        except FileNotFoundError:  # the call was interrupted
            continue
        refused[f"{name} ({CALL.unpack(call)[3]})"] += 1
    return refused


def main(code: str = DRIVER) -> None:
    """Run code in a child under the filter, and print the calls that were refused."""
    program = syscalls.build_filter(gpu=True)
    ours, theirs = socket.socketpair()
    if (child := os.fork()) == 0:
        socket.send_fds(theirs, [b"."], [install(program)])
        exec(code, {})
        sys.stdout.flush()
        os._exit(0)
    theirs.close()
    _, listeners, _, _ = socket.recv_fds(ours, 1, 1)
    if not listeners:
        sys.exit("this kernel can't report refused calls")
    refused = listen(*listeners)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("refused:", ", ".join(f"{name} ×{count}" for name, count in refused.items()) or "none", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
