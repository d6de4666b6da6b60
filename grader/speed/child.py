"""Runs work in a child process, because a device driver may hang or crash. The child sends messages to its parent."""

import os
import signal
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import wait

from grader.base.processes import run_in_child
from grader.base.signals import interruptible, uninterrupted
from grader.sandbox.launch import demand_forkable

Send = Callable[[bytes], None]


def receive_messages(work: Callable[[Send], None], silence: float) -> Iterator[bytes]:
    """Run `work` in a child process and yield its messages.

    The child is killed if it sends no message for `silence` seconds. Ctrl-C takes effect only while this process is
    waiting. Raises MachineError if this process can't fork safely.
    """
    with uninterrupted():
        demand_forkable()
        receive, send = Pipe(duplex=False)
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            run_in_child(lambda: work(send.send_bytes), "grading speed", parent)
        send.close()
        try:
            while True:
                with interruptible():
                    ready = wait([receive], timeout=silence)
                if not ready:
                    return
                try:
                    message = receive.recv_bytes()
                except (EOFError, OSError):
                    return
                yield message
        finally:
            receive.close()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
