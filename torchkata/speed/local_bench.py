"""Times a workload on this machine's GPU in the process that runs the student's code, for `pytest -m gpu`.

These times are never used for grading, because student code could manipulate the clock of its own process.
"""

import gc
import math
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import pytest
import torch

from torchkata.course import Workload, course
from torchkata.i18n import _, translate
from torchkata.inside.assignment import Assignment
from torchkata.inside.reply import run_probe
from torchkata.inside.speed.sizes import Kind, Size
from torchkata.inside.speed.workload import Block, Rate, work_of
from torchkata.inside.text import Text
from torchkata.seam.student import unwrap_reply
from torchkata.seam.time_limits import allow, limit_time

from .bench import TimedBlock, block_length
from .datasheets import device
from .memory import NoRoom, fit

CALLS = 2  # calls per block; if they are too short, they are repeated with new inputs
CALL_SECONDS = 60.0  # minimum time limit of a call, because a call may compile code

T = TypeVar("T")


class Stopwatch:
    """Measures torch's current CUDA device with the clock of this process, after synchronizing with the device."""

    kind: Kind = "cuda"

    def __init__(self, name: str) -> None:
        self.name = name  # the device's name in `devices.toml`

    def free_bytes(self) -> int:
        """Return the free memory of the device, after emptying torch's caching allocator."""
        for name in ("last_exc", "last_value", "last_traceback"):  # pytest keeps the tensors of a failed test alive
            vars(sys).pop(name, None)
        gc.collect()
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the number of seconds that the device takes for this work."""
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - began


def find_gpu() -> Stopwatch | Text:
    """Return a stopwatch for this machine's GPU, or the reason why it cannot be timed."""
    if torch.cuda.is_available():
        return Stopwatch(torch.cuda.get_device_name())
    if torch.version.cuda is None:
        return Text("this torch is built without CUDA")
    return Text("torch finds no CUDA device on this machine")


class Side:
    """The tensors, the check and the block of the student or of the baseline."""

    def __init__(self, work: Rate, size: Size, kind: Kind) -> None:
        self.memory = {
            name: torch.empty(field.shape, dtype=field.dtype, device="cpu" if field.on_host else kind)
            for name, field in work.fields(size, CALLS).items()
        }
        self.check = work.check(self.memory, self.memory, size)
        self.check.prepare()

    def begin(self, block: Block) -> "Side":
        """Use this block, which has been set up."""
        self.block = block
        self.check.begun()
        return self


class LocalBench:
    """A `Bench` in this process. The test is skipped if the device has too little memory."""

    def __init__(self, workload: Workload, assignment: Assignment, stopwatch: Stopwatch) -> None:
        self.workload = workload
        self.assignment = assignment
        self.stopwatch = stopwatch
        self.kind = stopwatch.kind
        self.device = device(stopwatch.name)
        self.work = work_of(workload.name)
        whole = self.work.sizes[self.kind]
        try:
            self.size, _ = fit(self.work, whole, stopwatch.free_bytes(), CALLS)
        except NoRoom as error:
            pytest.skip(translate(error.note))
        self.shrunk = describe_shrinking(whole, self.size)
        self.calls = CALLS
        self.worked = -math.inf
        self.patience = CALL_SECONDS
        self.sides: dict[str, Side] = {}

    @property
    def floor(self) -> float:
        """The largest relative error that any correct result can have."""
        return self.sides["student"].check.floor

    def start_baseline(self) -> None:
        """Set up the blocks of plain torch, and choose how often the calls of a block are repeated."""
        side = Side(self.work, self.size, self.kind)
        self.sides["baseline"] = side.begin(self.work.baseline(self.size, side.memory, self.kind))
        once = min(self.stopwatch.seconds(side.block) for _ in range(2)) / CALLS  # the first call loads kernels
        self.calls = CALLS * block_length(once, self.kind, CALLS)[1]

    def start_student(self, patience: float) -> None:
        """Set up the blocks of the student's code."""
        self.patience = max(patience, CALL_SECONDS)
        side = Side(self.work, self.size, self.kind)
        self.sides["student"] = side.begin(
            self.call_student(lambda: self.work.student(self.assignment, self.size, side.memory, self.kind))
        )

    def run_baseline(self) -> TimedBlock:
        """Run a block of plain torch."""
        side = self.sides["baseline"]
        return self.run_block(side, side.block)

    def run_student(self) -> TimedBlock:
        """Run a block of the student's code."""
        side = self.sides["student"]
        return self.run_block(side, lambda: self.call_student(side.block))

    def run_block(self, side: Side, work: Block) -> TimedBlock:
        """Time all calls of a block, and check their results."""
        seconds = error = 0.0
        for _block in range(self.calls // CALLS):
            side.check.refresh()
            seconds += self.stopwatch.seconds(work)
            error = max(error, side.check.error())
        return TimedBlock(seconds, error)

    def call_student(self, work: Callable[[], T]) -> T:
        """Call a function that runs student code. Raises NotStarted, Crashed or TimedOut if it does not return."""
        results: list[T] = []
        with limit_time(allow(self.patience, course().limits), self.assignment.__files__.folder):
            unwrap_reply(run_probe(self.assignment, lambda _: results.append(work()), ()))
        return results[0]

    def trouble(self) -> str:
        """Return "", because the state of the device is not watched here."""
        return ""

    def close(self) -> None:
        """Free the memory."""
        self.sides.clear()


def describe_shrinking(whole: Size, size: Size) -> str:
    """Return a note about the reduced size, or "" if the size was not reduced."""
    if size == whole:
        return ""
    name = "batch" if whole.batch else "parameters"
    sizes = {"size": getattr(size, name), "whole": getattr(whole, name)}
    return _("{name} {size} instead of {whole}, to fit in device memory", name=name, **sizes)
