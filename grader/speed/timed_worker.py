"""A timed worker, the student's or the baseline's: its memory and inputs, and its blocks by our clock."""

import contextlib
import math
import os
import socket
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.sandbox.accelerator import Accelerator, SharedMemory
from grader.sandbox.cuda import CUDA
from grader.sandbox.requests import WorkloadRequest
from grader.speed.idle import Rest
from grader.speed.paused_worker import PausedWorker
from torchkata.course import Limits
from torchkata.seam.failures import Crashed, Died, Inconclusive, NotStarted, TimedOut
from torchkata.seam.reply import Reply
from torchkata.seam.student import demand_success
from torchkata.speed.layout import bytes_needed, lay_out
from torchkata.speed.sizes import Kind, Size
from torchkata.speed.workload import Work, work_of

BACK_SECONDS = 20.0  # that a driver may take to give back what an ended process held
SLACK = 2**28  # bytes of the device that libraries of this process may have taken meanwhile
LOOK_SECONDS = 0.01
MOST_CALLS = 2**16
SETTLINGS = 3  # before each block
LEAST_SECONDS = 1e-6  # that a block takes: by the clock of this process, less what the grader does in it


@dataclass(frozen=True)
class Task:
    """What is to be done in a block."""

    workload: str
    kind: Kind
    size: Size
    calls: int
    times: int = 1  # that all calls are done, on new inputs each time

    @property
    def work(self) -> Work:
        """What it is."""
        return work_of(self.workload)


@dataclass(frozen=True)
class Done:
    """A block: how long it took, without what is the grader's own work, and how far off its results are."""

    seconds: float
    error: float
    reply: Reply
    began: float = 0.0  # by `time.perf_counter`


class TimedWorker:
    """A worker that has begun a task."""

    def __init__(
        self,
        control: socket.socket,
        limits: Limits,
        task: Task,
        files: Mapping[str, bytes] | None,
        accelerator: Accelerator = CUDA,
    ) -> None:
        """The student's with files, the baseline's without. Raises what `torchkata.seam.failures` has."""
        self.task = task
        self.accelerator = accelerator
        self.free_at_start = accelerator.free_bytes() if task.kind == "cuda" else 0
        self.trusted = files is None
        self.worker = PausedWorker(control, limits)
        self.device_memory: SharedMemory | None = None
        self.settling = math.inf  # seconds: what disturbs it makes it longer, so the least that was seen is taken off
        self.rest: Rest | None = None  # of the device, once a student's code may leave work on it
        try:
            with self.blamed():
                self.begin(self.worker.start(files or {}))
        except BaseException:
            self.close()
            raise

    def begin(self, host: Tensor) -> None:
        """Lay out the memory and let the worker make what its blocks need."""
        task, device_bytes = self.task, 0
        chosen = task.work.fields(task.size, task.calls)
        if task.kind == "cuda":
            device_bytes = bytes_needed(chosen, on_host=False)
            self.device_memory = self.accelerator.memory(device_bytes)
        self.memory = lay_out(chosen, host, host if self.device_memory is None else self.device_memory.tensor)
        self.filled = [name for name, field in chosen.items() if field.role != "given" and not field.on_host]
        self.results: dict[str, Tensor] = self.memory if self.device_memory is None else self.copies()
        self.check = task.work.check(self.memory, self.results, task.size)
        self.check.prepare()
        self.settled()
        self.hand_over(WorkloadRequest(task.workload, task.size, task.calls, task.kind, self.trusted, device_bytes))
        self.memory_before = self.worker.memory()
        self.free_before = self.accelerator.free_bytes() if task.kind == "cuda" else 0
        if self.device_memory is not None and not self.trusted:
            self.rest = Rest(self.accelerator, self.device_memory.tensor.device)
        demand_success(self.worker.begin())
        self.check.begun()

    def hand_over(self, order: WorkloadRequest) -> None:
        """Let the worker map its memory, and that of the device, if it has any. Raises Inconclusive, CudaError.

        No student's code runs yet, so that nothing that goes wrong is a student's fault.
        """
        descriptor = None if self.device_memory is None else self.device_memory.descriptor()
        try:
            reply = self.worker.lay_out(order, descriptor)
        except (Died, TimedOut) as error:
            raise Inconclusive(f"a worker could not map its memory ({error.how})") from None
        finally:
            if descriptor is not None:
                os.close(descriptor)
        if reply.outcome != "returned":
            raise Inconclusive(f"a worker could not map its memory ({reply.error})")

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Whatever happens to the baseline's worker is the machine's fault. Raises Inconclusive."""
        try:
            yield
        except (Crashed, Died, NotStarted, TimedOut) as error:
            if not self.trusted:
                raise
            raise Inconclusive(f"plain torch's own work failed ({error})") from None

    def settled(self) -> None:
        """Wait until the device has done what this process has queued: before any clock or code of others begins."""
        if self.device_memory is not None:
            self.accelerator.synchronize()

    def block(self, seconds: float) -> Done:
        """All calls, as often as the task says, for limited time. Raises what `torchkata.seam.failures` has."""
        self.settling = min(self.settling, *(self.settled_alone() for _ in range(SETTLINGS)))
        first = self.turn(seconds)
        took, worst = first.seconds, first.error
        for _ in range(self.task.times - 1):
            done = self.turn(seconds - took)
            took, worst = took + done.seconds, max(worst, done.error)
        return replace(first, seconds=took, error=worst)

    def turn(self, seconds: float) -> Done:
        """All calls once, on new inputs, without the grader's own part of the time."""
        self.check.refresh()
        self.settled()
        if self.rest is not None:
            self.rest.look_again()
        with self.blamed():
            block = self.worker.block({"block": True}, seconds, self.settle)
            demand_success(block.reply)
        took = block.own if self.device_memory is None else max(LEAST_SECONDS, block.wall - self.settling)
        if self.rest is not None:
            took += self.rest.wait(seconds)
        error = self.check.error()
        with self.blamed():
            self.worker.still()
        return Done(took, error, block.reply, block.began)

    def settled_alone(self) -> float:
        """How many seconds settling takes now, when nobody else's work runs."""
        self.settled()
        began = time.perf_counter()
        self.settle()
        return time.perf_counter() - began

    def settle(self) -> None:
        """On a GPU: copy the results, before anything that is queued there can go on writing them."""
        if self.device_memory is not None:
            for name in self.filled:
                self.results[name].copy_(self.memory[name])
            self.settled()

    def copies(self) -> dict[str, Tensor]:
        """Room for the results."""
        return {name: torch.empty_like(self.memory[name]) for name in self.filled}

    def close(self) -> None:
        """End the worker, and give its memory back. Raises Inconclusive."""
        self.worker.end()
        if self.device_memory is not None:
            self.memory, self.results = {}, {}
            self.device_memory.release()
            self.device_memory = None
        if self.task.kind == "cuda":
            self.await_memory()

    def await_memory(self) -> None:
        """Wait for what the worker held of the device, which drivers free after a process' end. Raises Inconclusive.

        Not for a student's: their verdict stands, whatever their code leaves behind.
        """
        deadline = time.monotonic() + BACK_SECONDS
        while self.accelerator.free_bytes() < self.free_at_start - SLACK:
            if time.monotonic() > deadline:
                if self.trusted:
                    raise Inconclusive("the memory of an ended process has not come back")
                return
            time.sleep(LOOK_SECONDS)


def most_calls(work: Work, kind: Kind, size: Size, available: int) -> int:
    """How many calls' tensors fit into so many bytes, of the device's memory where it has its own; at least 1."""
    on_host = None if kind == "cpu" else False

    def needed(calls: int) -> int:
        return bytes_needed(work.fields(size, calls), on_host=on_host)

    return max(1, bisect_right(range(MOST_CALLS), available, lo=1, key=needed) - 1)
