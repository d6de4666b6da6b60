"""One workload, timed in this process: a size that fits, inputs, the student's work, the plain work beside it.

Y S Y S Y …     Y: plain torch, a block of it   S: the student's
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeVar

import pytest
import torch

from torchkata.assignment import Assignment
from torchkata.compare import check
from torchkata.student import Student

from .devices import device
from .freivalds import OWN_MARGIN
from .layout import bytes_needed, dtype_of
from .sizes import Size
from .stopwatch import Stopwatch
from .waiting import LEAD_SECONDS
from .workload import Block, HostWait, MemoryPeak, Rate, Work, work_of

CALLS = 2
BLOCKS = 7
BLOCK_SECONDS = {"cpu": 0.02, "cuda": 0.25}
WARM_UP_SECONDS = {"cpu": 0.1, "cuda": 2.0}
HEADROOM = 4  # times the inputs and results: what models, gradients and temporaries take besides

T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """What was measured, as a share of what could be."""

    ratio: float
    mfu: float | None = None  # of the device's peak, where that is known
    shrunk: str = ""  # what was made smaller to fit


class Trial:
    """A workload on a device; skipped where the device is too small for it."""

    def __init__(self, workload: str, student: Student, stopwatch: Stopwatch) -> None:
        self.work = work_of(workload)
        self.student = student
        self.stopwatch = stopwatch
        whole = self.work.sizes[stopwatch.kind]
        self.size = fitting(self.work, whole, stopwatch.free_bytes())
        self.shrunk = shrunk(whole, self.size)
        self.memory = {
            name: torch.empty(field.shape, dtype=field.dtype, device="cpu" if field.on_host else stopwatch.kind)
            for name, field in self.work.fields(self.size, CALLS).items()
        }
        self.check = self.work.check(self.memory, self.memory, self.size)

    def figure(self) -> Figure:
        """Of work that is right. Raises Wrong where it is not, NotStarted, Crashed, TimedOut."""
        self.check.prepare()
        plain, block = self.work.baseline(self.size, self.memory, self.stopwatch.kind), self.begin()
        self.check.begun()
        self.demand_right(block, plain)
        match self.work:
            case Rate():
                ratio, rate = self.rates(self.work, block, plain)
                return Figure(ratio, self.mfu(self.work, rate), self.shrunk)
            case HostWait():
                return Figure(float(self.stopwatch.lead(block) >= LEAD_SECONDS), shrunk=self.shrunk)
            case MemoryPeak():
                held = self.stopwatch.peak_bytes(block)
                return Figure(self.work.needed_bytes(self.size) / max(1, held), shrunk=self.shrunk)
        raise TypeError(f"{type(self.work).__name__} is not measured")

    def begin(self) -> Block:
        """The student's code, ready to do a block of the workload. Raises NotStarted, Crashed, TimedOut."""
        block = self.beside(
            lambda assignment: self.work.student(assignment, self.size, self.memory, self.stopwatch.kind)
        )
        return lambda: self.beside(lambda _: block())

    def beside(self, work: Callable[[Assignment], T]) -> T:
        """Do this beside the student's code, in this process. Raises NotStarted, Crashed, TimedOut."""
        made: list[T] = []
        self.student.take(self.student.runner.run_probe(lambda assignment: made.append(work(assignment)), ()))
        return made[0]

    def demand_right(self, block: Block, plain: Block) -> None:
        """Demand what the grader does: results as exact as their dtype allows, or nearly as exact as plain torch's."""
        error, tolerance = self.error(block), self.check.floor
        if not error <= tolerance and isinstance(self.work, Rate) and self.work.same_as_baseline:
            own = self.error(plain)
            tolerance = max(tolerance, OWN_MARGIN * own if math.isfinite(own) else 0.0)
        message = f"the result is wrong: its relative error is {error:.2g}, where {tolerance:.2g} is rounding"
        check(error <= tolerance, message)

    def error(self, block: Block) -> float:
        """How far off the results of one block on new inputs are."""
        self.check.refresh()
        block()
        return self.check.error()

    def rates(self, work: Rate, block: Block, plain: Block) -> tuple[float, float]:
        """The median of several blocks, each against the faster of the plain ones beside it; and its rate."""
        kind = self.stopwatch.kind
        until, once = time.monotonic() + WARM_UP_SECONDS[kind], math.inf
        while time.monotonic() < until:
            once = self.stopwatch.seconds(plain)
        times = max(1, math.ceil(BLOCK_SECONDS[kind] / once))

        def timed(block: Block, amount: float) -> float:
            return times * CALLS * amount / self.stopwatch.seconds(lambda: [block() for _ in range(times)])

        self.stopwatch.seconds(block)
        before = timed(plain, work.baseline_amount(self.size))
        rates, ratios = [], []
        for _ in range(BLOCKS):
            rates.append(timed(block, work.amount(self.size)))
            after = timed(plain, work.baseline_amount(self.size))
            ratios.append(rates[-1] / max(before, after))
            before = after
        return median(ratios), median(rates)

    def mfu(self, work: Rate, rate: float) -> float | None:
        """The rate as a share of the device's peak; None where none is known, or the work is bound by memory."""
        model = device(self.stopwatch.name)
        peak = model and model.peak(dtype_of(self.size), tf32=True)
        return rate / peak if peak and work.unit == "FLOP" else None


def fitting(work: Work, size: Size, free: int) -> Size:
    """The size itself, or with its batch (an optimizer's: its parameters) halved until it fits."""
    while (needed := HEADROOM * bytes_needed(work.fields(size, CALLS), on_host=False)) > free:
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
