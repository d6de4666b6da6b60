"""A worker that runs only while it is handling a request, and the memory that it shares with this process."""

import math
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
import torch
from torch import Tensor

from grader.sandbox.inside.channel import Late, map_descriptor
from grader.sandbox.inside.requests import WorkloadRequest
from grader.sandbox.runner import WorkerRunner
from torchkata.course import Limits
from torchkata.i18n import _
from torchkata.inside.reply import Reply
from torchkata.seam.failures import Died, Inconclusive, TimedOut
from torchkata.seam.time_limits import Times

SLIP = 0.005  # seconds that the kernel may still count after a worker has been stopped
BEGIN_SECONDS = 60.0  # time limit for importing, building a model and, on a GPU, initializing CUDA


@dataclass(frozen=True)
class DoneBlock:
    """A finished block of work, with its reply and its duration."""

    reply: Reply
    wall: float  # seconds according to the clock of this process
    own: float  # CPU time of all threads in seconds, which excludes waits for a processor


class PausedWorker:
    """A worker that is paused except while it is handling a request."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self.runner = WorkerRunner(control, limits)
        self.stood = 0.0  # the worker's CPU time when it was last paused

    def start(self, files: Mapping[str, bytes]) -> Tensor:
        """Start the worker with these files and return the shared memory, uint8[bytes].

        Raises Inconclusive if the machine can't start the worker or can't share memory.
        """
        self.runner.open(files, 1.0)
        self.runner.start()
        if self.runner.arena is None:
            raise Inconclusive(_("this system cannot share memory between two processes"))
        self.pause()
        return torch.frombuffer(map_descriptor(self.runner.arena), dtype=torch.uint8)

    def lay_out(self, order: WorkloadRequest, descriptor: int | None = None) -> Reply:
        """Let the worker map its memory before any student code runs.

        Raises TimedOut, Died or Inconclusive if that fails.

        If the order includes device memory, `descriptor` refers to it.
        """
        return self.block({"lay_out": msgspec.to_builtins(order)}, BEGIN_SECONDS, descriptor=descriptor).reply

    def begin(self) -> Reply:
        """Let the worker prepare its blocks. Raises TimedOut, Died or Inconclusive if that fails."""
        return self.block({"begin": True}, BEGIN_SECONDS).reply

    def block(
        self,
        request: Mapping[str, object],
        seconds: float,
        settle: Callable[[], None] = lambda: None,
        descriptor: int | None = None,
    ) -> DoneBlock:
        """Resume the worker until it has replied, then pause it and call `settle`.

        `settle` waits for a device that continues to work while the process is paused. Raises TimedOut, Died
        or Inconclusive if the worker does not reply.
        """
        began = time.perf_counter()
        before = self.stood
        demand_stillness(before, self.runner.measure().cpu)
        self.runner.signal(b"R")
        try:
            reply = self.runner.ask(request, Times(math.inf, seconds), descriptor)  # it may wait for the device
        except Late:
            raise TimedOut(_("no answer within {seconds} seconds", seconds=f"{seconds:.3g}")) from None
        self.pause()
        settle()
        return DoneBlock(reply, time.perf_counter() - began, self.stood - before)

    def pause(self) -> None:
        """Pause the worker. Raises Inconclusive if the zygote has exited."""
        self.runner.signal(b"P")
        self.stood = self.runner.measure().cpu

    def demand_paused(self) -> None:
        """Raise Died if the worker has run since it was paused, or Inconclusive if the zygote has exited."""
        before = self.stood
        self.pause()
        demand_stillness(before, self.stood)

    def end(self) -> None:
        """End the worker. Raises Inconclusive if the zygote has exited."""
        self.runner.end()


def demand_stillness(before: float, after: float) -> None:
    """Raise Died if a worker used CPU time while it was paused: it can arrange that a signal resumes it."""
    if after - before > SLIP:
        raise Died(_("your code kept running while it should have been paused for timing"))
