"""One workload, timed in this process: a size that fits, inputs, the student's work, the plain work beside it.

Y S Y S Y …     Y: plain torch, a block of it   S: the student's
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import TypeVar

import pytest
import torch
from torch import Tensor

from tests.probes import speed
from torchkata.assignment import Assignment
from torchkata.course import Workload
from torchkata.gpu import Figure
from torchkata.speed import baselines
from torchkata.speed.amounts import UNITS, amount
from torchkata.speed.devices import device
from torchkata.speed.layout import bytes_needed, fields
from torchkata.speed.sizes import SIZES, Size
from torchkata.speed.stopwatch import Stopwatch
from torchkata.student import Student

CALLS = 2
BLOCKS = 7
BLOCK_SECONDS = {"cpu": 0.02, "cuda": 0.25}
WARM_UP_SECONDS = {"cpu": 0.1, "cuda": 2.0}
HEADROOM = 4  # times the inputs and results: what models, gradients and temporaries take besides

T = TypeVar("T")


class Trial:
    """A workload on a device; skipped where the device is too small for it."""

    def __init__(self, workload: Workload, student: Student, stopwatch: Stopwatch) -> None:
        self.workload = workload
        self.student = student
        self.stopwatch = stopwatch
        whole = SIZES[stopwatch.kind][workload.name]
        self.size = fitting(workload.name, whole, stopwatch.free_bytes())
        self.shrunk = shrunk(whole, self.size)
        self.fields = fields(workload.name, self.size, CALLS)
        self.memory = {name: self.tensor(name) for name in self.fields}
        for name in self.memory:
            self.fill(name)

    def tensor(self, name: str) -> Tensor:
        """Room for one of the tensors."""
        field = self.fields[name]
        return torch.empty(field.shape, dtype=field.dtype, device="cpu" if field.on_host else self.stopwatch.kind)

    def fill(self, name: str) -> None:
        """Random inputs, of a size that a model's own numbers have; results that are none."""
        tensor, field = self.memory[name], self.fields[name]
        if field.role == "filled":
            tensor.fill_(torch.nan if tensor.is_floating_point() else -1)
        elif tensor.is_floating_point():
            tensor.uniform_(-1, 1)
            if name in ("layers", "final"):
                tensor.mul_(math.sqrt(3 / self.size.width))
        else:
            tensor.copy_(torch.randint(2**16, field.shape, dtype=torch.int32))

    def begin(self) -> Callable[[], object]:
        """The student's code, ready to do a block of the workload. Raises NotStarted, Crashed, TimedOut."""

        def make(assignment: Assignment) -> Callable[[], object]:
            return speed.begin(assignment, self.workload.name, self.size, self.memory, self.stopwatch.kind)

        work = self.beside(make)
        return lambda: self.beside(lambda _: work())

    def beside(self, work: Callable[[Assignment], T]) -> T:
        """Do this beside the student's code. Raises NotStarted, Crashed, TimedOut."""
        made: list[T] = []
        self.student.call(lambda assignment: made.append(work(assignment)))
        return made[0]

    def plain(self) -> Callable[[], object]:
        """The same work in plain torch, on the same memory, ready to be done."""
        return baselines.begin(self.workload.name, self.size, self.memory, self.stopwatch.kind)

    def rate(self, work: Callable[[], object], plain: Callable[[], object]) -> Figure:
        """The median of several blocks, each against the faster of the plain ones beside it."""
        units, kind = amount(self.workload.name, self.size), self.stopwatch.kind
        until, once = time.monotonic() + WARM_UP_SECONDS[kind], math.inf
        while time.monotonic() < until:
            once = self.stopwatch.seconds(plain)
        times = max(1, math.ceil(BLOCK_SECONDS[kind] / once))

        def timed(work: Callable[[], object], units: float) -> float:
            return times * CALLS * units / self.stopwatch.seconds(lambda: [work() for _ in range(times)])

        self.stopwatch.seconds(work)
        before = timed(plain, units.baseline)
        rates, ratios = [], []
        for _ in range(BLOCKS):
            rates.append(timed(work, units.student))
            after = timed(plain, units.baseline)
            ratios.append(rates[-1] / max(before, after))
            before = after
        return self.figure(median(ratios), self.mfu(median(rates)))

    def figure(self, ratio: float, mfu: float | None = None) -> Figure:
        """What was measured, and at what size."""
        return Figure(ratio, mfu, self.shrunk)

    def mfu(self, rate: float) -> float | None:
        """The rate as a share of the device's peak; None where none is known, or the work is bound by memory."""
        model = device(self.stopwatch.name)
        peak = model and model.peak(getattr(torch, self.size.dtype), tf32=True)
        return rate / peak if peak and UNITS[self.workload.name] == "FLOP" else None


def fitting(workload: str, size: Size, free: int) -> Size:
    """The size itself, or with its batch (an optimizer's: its parameters) halved until it fits."""
    while (needed := HEADROOM * bytes_needed(fields(workload, size, CALLS), on_host=False)) > free:
        smaller = replace(size, batch=size.batch // 2, parameters=size.parameters // 2)
        if not (smaller.batch or smaller.parameters):
            pytest.skip(f"it needs {needed / 2**30:.1f} GiB on the device, where {free / 2**30:.1f} are free")
        size = smaller
    return size


def shrunk(whole: Size, size: Size) -> str:
    """What was made smaller to fit, in words; "" for nothing."""
    if size == whole:
        return ""
    name = "batch" if whole.batch else "parameters"
    return f"{name} {getattr(size, name)} in place of {getattr(whole, name)}: more does not fit on the device"
