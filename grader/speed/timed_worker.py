"""A timed worker for the student or the baseline: its memory, its inputs, and its blocks, timed by the grader."""

import contextlib
import math
import os
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from grader.sandbox.inside.accelerator import Accelerator, SharedMemory
from grader.sandbox.inside.cuda import CUDA
from grader.sandbox.inside.requests import WorkloadRequest
from grader.speed.idle import IdleDetector
from grader.speed.paused_worker import PausedWorker
from torchkata.course import Limits
from torchkata.i18n import _
from torchkata.inside.speed.layout import bytes_needed, lay_out
from torchkata.inside.speed.sizes import Kind, Size
from torchkata.inside.speed.workload import Rate, work_of
from torchkata.seam.failures import Crashed, Died, Inconclusive, NotStarted, TimedOut
from torchkata.seam.student import unwrap_reply
from torchkata.speed.bench import TimedBlock
from torchkata.speed.memory import CONTEXT_BYTES

BACK_SECONDS = 20.0  # time limit for the driver to free the memory of a process that has exited
SLACK = 2**28  # device memory in bytes that libraries in this process may have allocated in the meantime
LOOK_SECONDS = 0.01
SETTLINGS = 3  # how often `settle` is timed before each block
DRAWS = 5  # how often inputs are drawn if the device is busy: a delay of this process does not happen that often
LEAST_SECONDS = 1e-6  # minimum duration of a block once the grader's own work is subtracted


@dataclass(frozen=True)
class Task:
    """The work performed in a block."""

    workload: str
    kind: Kind
    size: Size
    calls: int
    times: int = 1  # number of repetitions of all calls, each with new inputs

    @property
    def work(self) -> Rate:
        """The object that defines the work of the workload."""
        return work_of(self.workload)


class TimedWorker:
    """A worker that has been set up for a task."""

    def __init__(
        self,
        control: socket.socket,
        limits: Limits,
        task: Task,
        files: Mapping[str, bytes] | None,
        accelerator: Accelerator = CUDA,
    ) -> None:
        """Start a worker for the student (with files) or the baseline.

        A failure raises one of the exceptions in `torchkata.seam.failures`.
        """
        self.task = task
        self.accelerator = accelerator
        self.free_at_start = accelerator.free_bytes() if task.kind == "cuda" else 0
        self.trusted = files is None
        self.worker = PausedWorker(control, limits)
        self.device_memory: SharedMemory | None = None
        self.settling = math.inf  # shortest duration of `settle` in seconds; disturbances only increase it
        self.free_before = 0  # free device memory before student code runs
        self.rest: IdleDetector | None = None  # set once student code may have queued work on the device
        try:
            with self.blame_machine():
                self.begin(self.worker.start(files or {}))
        except BaseException:
            self.close()
            raise

    def begin(self, host: Tensor) -> None:
        """Lay out the memory and let the worker prepare its blocks."""
        task, device_bytes = self.task, 0
        chosen = task.work.fields(task.size, task.calls)
        if task.kind == "cuda":
            device_bytes = bytes_needed(chosen, on_host=False)
            self.device_memory = self.accelerator.memory(device_bytes)
        self.memory = lay_out(chosen, host, host if self.device_memory is None else self.device_memory.tensor)
        self.filled = [name for name, field in chosen.items() if field.role != "given" and not field.on_host]
        self.results: dict[str, Tensor] = self.memory
        if self.device_memory is not None:
            self.results = {name: torch.empty_like(self.memory[name]) for name in self.filled}
        self.check = task.work.check(self.memory, self.results, task.size)
        if self.device_memory is not None:  # torch keeps this memory, so the student's code can't take it
            self.device_memory.tensor.new_empty(task.work.check_bytes(task.size, task.calls))
        self.check.prepare()
        self.synchronize()
        self.hand_over(WorkloadRequest(task.workload, task.size, task.calls, task.kind, self.trusted, device_bytes))
        if self.device_memory is not None and not self.trusted:
            self.rest = IdleDetector(self.accelerator, self.device_memory.tensor.device)
            self.free_before = self.accelerator.free_bytes()
        unwrap_reply(self.worker.begin())
        with self.blame_shortage():
            self.check.begun()

    def hand_over(self, order: WorkloadRequest) -> None:
        """Let the worker map host memory and, if needed, device memory. Raises Inconclusive or CudaError if that fails.

        No student code has run yet, so failures here are never the student's fault.
        """
        descriptor = None if self.device_memory is None else self.device_memory.descriptor()
        try:
            reply = self.worker.lay_out(order, descriptor)
            fault = None if reply.outcome == "returned" else reply.error
        except (Died, TimedOut) as error:
            fault = error.how
        finally:
            if descriptor is not None:
                os.close(descriptor)
        if fault is not None:
            raise Inconclusive(_("a worker could not map its memory ({error})", error=fault))

    @contextlib.contextmanager
    def blame_machine(self) -> Iterator[None]:
        """Convert failures of the baseline's worker to Inconclusive, because they are faults of the machine."""
        try:
            yield
        except (Crashed, Died, NotStarted, TimedOut) as error:
            if not self.trusted:
                raise
            raise Inconclusive(_("plain torch failed ({error})", error=error)) from None

    @contextlib.contextmanager
    def blame_shortage(self) -> Iterator[None]:
        """Raise Died if this process runs out of device memory because the student's code holds too much of it."""
        try:
            yield
        except torch.OutOfMemoryError:
            if self.rest is None:
                raise
            held = self.free_before - self.accelerator.free_bytes()
            if held <= self.task.work.working_bytes(self.task.size, self.task.calls) + CONTEXT_BYTES:
                raise
            text = _("your code holds {held} GiB of device memory, too much for the check", held=f"{held / 2**30:.1f}")
            raise Died(text) from None

    def synchronize(self) -> None:
        """Wait until the device has finished all work queued by this process."""
        if self.device_memory is not None:
            self.accelerator.synchronize()

    def block(self, seconds: float) -> TimedBlock:
        """Run all calls `task.times` times. A failure raises one of the exceptions in `torchkata.seam.failures`.

        The median of the repetitions counts, because a delay of this process may be longer than one of them.
        """
        done: list[TimedBlock] = []
        with self.blame_shortage():
            self.settling = min(self.settling, *(self.time_settling() for _ in range(SETTLINGS)))
            for _ in range(self.task.times):
                done.append(self.run_calls(seconds - sum(run.seconds for run in done)))
        took = self.task.times * median(run.seconds for run in done)
        return TimedBlock(took, max(run.error for run in done))

    def run_calls(self, seconds: float) -> TimedBlock:
        """Run all calls once with new inputs. The measured time excludes the grader's own work."""
        self.draw_inputs()
        with self.blame_machine():
            block = self.worker.block({"block": True}, seconds, self.settle)
            unwrap_reply(block.reply)
        took = block.own if self.device_memory is None else max(LEAST_SECONDS, block.wall - self.settling)
        if self.rest is not None:
            took += self.rest.wait(seconds)
        error = self.check.error()
        with self.blame_machine():
            self.worker.demand_paused()
        return TimedBlock(took, error)

    def draw_inputs(self) -> None:
        """Write new inputs, and see that no queued work of the student has already used them.

        Inputs that were used early are replaced. Raises Died if this happens each time.
        """
        for _draw in range(DRAWS):
            self.check.refresh()
            self.synchronize()
            if self.rest is None or self.rest.is_idle():
                return
        raise Died(_("your code used the device before its block began"))

    def time_settling(self) -> float:
        """Return how many seconds `settle` takes when no other work is running."""
        self.synchronize()
        began = time.perf_counter()
        self.settle()
        return time.perf_counter() - began

    def settle(self) -> None:
        """Copy results that are on a GPU before work that the student has left in the queue can change them."""
        if self.device_memory is not None:
            for name in self.filled:
                self.results[name].copy_(self.memory[name])
            self.synchronize()

    def close(self) -> None:
        """End the worker and free its memory. Raises Inconclusive if the zygote has exited."""
        self.worker.end()
        if self.device_memory is not None:
            self.memory, self.results = {}, {}
            self.device_memory.release()
            self.device_memory = None
        if self.task.kind == "cuda":
            self.await_memory()

    def await_memory(self) -> None:
        """Wait until the driver has freed the device memory of the worker.

        If it takes too long, raise Inconclusive for the baseline. For a student's worker, the verdict is kept.
        """
        deadline = time.monotonic() + BACK_SECONDS
        while self.accelerator.free_bytes() < self.free_at_start - SLACK:
            if time.monotonic() > deadline:
                if self.trusted:
                    raise Inconclusive(_("the memory of a finished process was not freed"))
                return
            time.sleep(LOOK_SECONDS)
