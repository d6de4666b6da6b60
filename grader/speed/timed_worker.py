"""A timed worker, the student's or the baseline's: its memory and inputs, and its blocks by our clock."""

import contextlib
import os
import socket
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.sandbox.cuda import DeviceMemory
from grader.sandbox.orders import Begin
from grader.speed.paused_worker import Block, PausedWorker
from torchkata.course import Limits
from torchkata.failures import Crashed, Died, Inconclusive, NotStarted, Place, TimedOut
from torchkata.reply import Reply
from torchkata.speed.layout import bytes_needed, lay_out
from torchkata.speed.sizes import Kind, Size
from torchkata.speed.workload import Work, work_of

MOST_CALLS = 2**16


@dataclass(frozen=True)
class Task:
    """What is to be done in a block."""

    workload: str
    kind: Kind
    size: Size
    calls: int
    times: int = 1  # the same calls again

    @property
    def work(self) -> Work:
        """What it is."""
        return work_of(self.workload)


@dataclass(frozen=True)
class Done:
    """One block: how long it took, and how far off its results are."""

    seconds: float
    error: float
    reply: Reply


class TimedWorker:
    """A worker that has begun a task."""

    def __init__(self, control: socket.socket, limits: Limits, task: Task, files: Mapping[str, bytes] | None) -> None:
        """The student's with files, the baseline's without. Raises what `torchkata.failures` has."""
        self.task = task
        self.trusted = files is None
        self.worker = PausedWorker(control, limits)
        self.device_memory: DeviceMemory | None = None
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
            self.device_memory = DeviceMemory(device_bytes)
        self.memory = lay_out(chosen, host, host if self.device_memory is None else self.device_memory.tensor)
        self.filled = [name for name, field in chosen.items() if field.role != "given" and not field.on_host]
        self.results: dict[str, Tensor] = self.memory if self.device_memory is None else self.copies()
        self.check = task.work.check(self.memory, self.results, task.size)
        self.check.prepare()
        self.settled()
        self.hand_over(Begin(task.workload, task.size, task.calls, task.kind, self.trusted, device_bytes))
        self.memory_before = self.worker.memory()
        self.free_before = torch.cuda.mem_get_info()[0] if task.kind == "cuda" else 0
        demand_success(self.worker.begin())
        self.check.begun()

    def hand_over(self, order: Begin) -> None:
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
            torch.cuda.synchronize()

    def block(self, seconds: float) -> Done:
        """One block on new inputs, for limited time. Raises what `torchkata.failures` has."""
        self.check.refresh()
        self.settled()
        with self.blamed():
            done = self.timed({"block": self.task.times, "done": True}, seconds)
        error = self.check.error()
        with self.blamed():
            self.worker.still()
        return Done(done.wall if self.task.kind == "cuda" else done.own, error, done.reply)

    def timed(self, request: Mapping[str, object], seconds: float) -> Block:
        """One request by the clock, until its results are where the worker can't change them."""
        block = self.worker.block(request, seconds, self.settle)
        demand_success(block.reply)
        return block

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


def demand_success(reply: Reply) -> None:
    """Raises NotStarted or Crashed, as `Student.call` does."""
    place = Place(reply.file, reply.line, reply.source)
    if reply.outcome == "not_written":
        raise NotStarted(place)
    if reply.outcome == "raised":
        raise Crashed(reply.error, place)


def most_calls(work: Work, kind: Kind, size: Size, available: int) -> int:
    """How many calls' tensors fit into so many bytes, of the device's memory where it has its own; at least 1."""
    on_host = None if kind == "cpu" else False

    def needed(calls: int) -> int:
        return bytes_needed(work.fields(size, calls), on_host=on_host)

    return max(1, bisect_right(range(MOST_CALLS), available, lo=1, key=needed) - 1)
