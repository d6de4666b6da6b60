"""Runs work in a child process, because a device driver may hang or crash. The child sends messages to its parent."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import wait

from grader.base.signals import end_with_parent, interruptible, uninterrupted
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
            run_child(work, send.send_bytes, parent)
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


def run_child(work: Callable[[Send], None], send: Send, parent: int) -> None:
    """Run `work` in the child process. Never returns."""
    status = 1
    try:
        end_with_parent(parent)
        work(send)
        status = 0
    except BrokenPipeError:
        pass
    except BaseException as error:
        print(f"grading speed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)
