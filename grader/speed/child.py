"""Runs work in a child process, because a device driver may hang or crash. The child sends messages to its parent."""

from collections.abc import Callable, Iterator
from multiprocessing.connection import wait

from grader.base.processes import ForkedChild, fork_child
from grader.base.signals import interruptible, uninterrupted
from grader.sandbox.launch import demand_no_cuda

Send = Callable[[bytes], None]


def receive_messages(work: Callable[[Send], None], silence: float) -> Iterator[bytes]:
    """Run `work` in a child process and yield its messages.

    The child is killed if it sends no message for `silence` seconds. Ctrl-C takes effect only while this process is
    waiting. Raises MachineError if this process can't fork safely.
    """
    with uninterrupted():
        demand_no_cuda()
        child = ForkedChild(*fork_child(lambda sending: work(sending.send_bytes), "grading speed"))
        try:
            while True:
                with interruptible():
                    ready = wait([child.messages], timeout=silence)
                if not ready:
                    return
                try:
                    message = child.messages.recv_bytes()
                except (EOFError, OSError):
                    return
                yield message
        finally:
            child.end()
