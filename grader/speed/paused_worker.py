"""A worker that runs only while it is asked something, and the memory that it shares with this process."""

import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
import torch
from torch import Tensor

from grader.sandbox.channel import map_descriptor
from grader.sandbox.requests import WorkloadRequest
from grader.sandbox.runner import WorkerRunner
from torchkata.course import Limits
from torchkata.seam.failures import Died, Inconclusive
from torchkata.seam.reply import Reply

SLIP = 5_000_000  # nanoseconds that the kernel may count after a worker has stopped
BEGIN_SECONDS = 60.0  # to import, build a model and, on a GPU, start CUDA


@dataclass(frozen=True)
class Block:
    """What a block of work came to."""

    reply: Reply
    began: float  # by `time.perf_counter`
    wall: float  # seconds by the clock of this process
    own: float  # without those in which the kernel let it wait for a processor, yet all that its threads used


@dataclass(frozen=True)
class MemoryUse:
    """What a process has in memory, in bytes, as the kernel counts it; not what it has mapped of files."""

    own: int
    shared: int

    def beyond(self, before: "MemoryUse") -> int:
        """How much more that is than before. To let go of shared memory, which may live on elsewhere, saves nothing."""
        return self.own - before.own + max(0, self.shared - before.shared)


class PausedWorker:
    """One worker, paused whenever nothing is asked of it."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self.runner = WorkerRunner(control, limits)
        self.stood = (0, 0)  # its times when it was last paused

    def start(self, files: Mapping[str, bytes]) -> Tensor:
        """Begin with these files; the memory that is shared with it, uint8[bytes]. Raises Inconclusive."""
        self.runner.open(files, 1.0)
        self.runner.start()
        if self.runner.arena is None:
            raise Inconclusive("this system has no memory that two processes can share")
        self.stood = self.runner.signal(b"P")
        return torch.frombuffer(map_descriptor(self.runner.arena), dtype=torch.uint8)

    def lay_out(self, order: WorkloadRequest, descriptor: int | None = None) -> Reply:
        """Let it map its memory; no student's code runs yet. Raises TimedOut, Died, Inconclusive.

        The `descriptor` is of the memory on a device, which the order says there is.
        """
        return self.block({"lay_out": msgspec.to_builtins(order)}, BEGIN_SECONDS, descriptor=descriptor).reply

    def begin(self) -> Reply:
        """Let it make what its blocks need. Raises TimedOut, Died, Inconclusive."""
        return self.block({"begin": True}, BEGIN_SECONDS).reply

    def block(
        self,
        request: Mapping[str, object],
        seconds: float,
        settle: Callable[[], None] = lambda: None,
        descriptor: int | None = None,
    ) -> Block:
        """Let it work, until it has answered, stands still again and its results are settled.

        `settle` is for a device that works on when the process stands still. Raises TimedOut, Died, Inconclusive.
        """
        began = time.perf_counter()
        before, resumed = self.stood, self.runner.signal(b"R")
        demand_stillness(before, resumed)
        reply = self.runner.ask(request, seconds, f"no answer within {seconds:.3g} seconds", descriptor)
        self.stood = self.runner.signal(b"P")
        settle()
        wall = time.perf_counter() - began
        used, waited = ((now - then) / 1e9 for then, now in zip(before, self.stood, strict=True))
        return Block(reply, began, wall, max(used, wall - waited))

    def still(self) -> None:
        """Make sure that it has not run since it was paused. Raises Died, Inconclusive."""
        before, self.stood = self.stood, self.runner.signal(b"P")
        demand_stillness(before, self.stood)

    def memory(self) -> MemoryUse:
        """Asked of the zygote, not of the worker, at any time; nothing where it has ended. Raises Inconclusive."""
        return MemoryUse(*self.runner.signal(b"M"))

    def end(self) -> None:
        """No student's code runs any more. Raises Inconclusive."""
        self.runner.end()


def demand_stillness(before: tuple[int, int], after: tuple[int, int]) -> None:
    """Raises Died for a worker that has used its processor in between, though it was told to stand still.

    A process can have signals sent to itself that let it go on.
    """
    if after[0] - before[0] > SLIP:
        raise Died("your code went on working while it had to stand still")
