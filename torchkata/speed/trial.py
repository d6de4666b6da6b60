"""Times a workload in the process of pytest, by the grader's arithmetic, for a student's own eyes.

Code that shares a process with a clock can change the clock, so nothing is graded by this one.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import pytest
import torch

from torchkata.compare.assertions import check
from torchkata.course import Tiers, Workload
from torchkata.seam.assignment import Assignment
from torchkata.seam.reply import run_probe
from torchkata.seam.student import limit_wall_time, unwrap_reply

from .datasheets import device
from .decision import (
    OPENING_BLOCKS,
    RULES,
    Final,
    Retry,
    as_ratios,
    block_length,
    by_thresholds,
    compare_rates,
    peak_on,
    thresholds_on,
)
from .freivalds import OWN_MARGIN
from .host_waits import LEAD_SECONDS
from .layout import bytes_needed, dtype_of
from .sizes import Size
from .stopwatch import Stopwatch
from .workload import Block, HostWait, MemoryPeak, Rate, Work, work_of

CALLS = 2
CALL_SECONDS = 60.0
BLOCK_SECONDS = {"cpu": 0.02, "cuda": 0.25}
WARM_UP_SECONDS = {"cpu": 0.1, "cuda": 2.0}
HEADROOM = 4  # times the inputs and results: what models, gradients and temporaries take besides

T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """A verdict, and what it was measured against."""

    verdict: Final
    thresholds: Tiers  # as shares of the baseline's rate
    mfu: float | None = None  # of the device's peak, where that is known
    shrunk: str = ""  # what was made smaller to fit


class Trial:
    """A workload on a device, ready to be measured; skipped where the device is too small for it."""

    def __init__(self, workload: Workload, assignment: Assignment, stopwatch: Stopwatch) -> None:
        self.workload = workload
        self.work = work_of(workload.name)
        self.assignment = assignment
        self.stopwatch = stopwatch
        whole = self.work.sizes[stopwatch.kind]
        self.size = fitting(self.work, whole, stopwatch.free_bytes())
        self.shrunk = shrunk(whole, self.size)
        self.memory = {
            name: torch.empty(field.shape, dtype=field.dtype, device="cpu" if field.on_host else stopwatch.kind)
            for name, field in self.work.fields(self.size, CALLS).items()
        }
        self.check = self.work.check(self.memory, self.memory, self.size)

    def measure(self) -> Figure:
        """Return the figure of work that is right. Raises Wrong, NotStarted, Crashed or TimedOut."""
        kind = self.stopwatch.kind
        self.check.prepare()
        plain = self.work.baseline(self.size, self.memory, kind)
        made = self.beside(lambda: self.work.student(self.assignment, self.size, self.memory, kind))
        self.check.begun()

        def block() -> object:
            return self.beside(made)

        self.demand_right(block, plain)
        if isinstance(self.work, Rate):
            return self.compare(self.work, block, plain)
        thresholds = self.workload.ratio[kind]
        return Figure(by_thresholds(self.share(block), thresholds), thresholds, shrunk=self.shrunk)

    def demand_right(self, block: Block, plain: Block) -> None:
        """Raise Wrong unless results are as exact as their dtype allows, or nearly as exact as plain torch's."""
        error, tolerance = self.error(block), self.check.floor
        if not error <= tolerance and isinstance(self.work, Rate) and self.work.same_as_baseline:
            own = self.error(plain)
            tolerance = max(tolerance, OWN_MARGIN * own if math.isfinite(own) else 0.0)
        message = f"the result is wrong: its relative error is {error:.2g}, where {tolerance:.2g} is rounding"
        check(error <= tolerance, message)

    def error(self, block: Block) -> float:
        """Return the relative error of the results of one block on new inputs."""
        self.check.refresh()
        block()
        return self.check.error()

    def share(self, block: Block) -> float:
        """Return the figure of work that is not measured as a rate."""
        match self.work:
            case HostWait():
                return float(self.stopwatch.lead(block) >= LEAD_SECONDS)
            case MemoryPeak():
                return self.work.needed_bytes(self.size) / max(1, self.stopwatch.peak_bytes(block))
        raise TypeError(f"{type(self.work).__name__} is not measured")

    def beside(self, work: Callable[[], T]) -> T:
        """Call this, which runs the student's code. Raises NotStarted, Crashed or TimedOut."""
        made: list[T] = []
        with limit_wall_time(CALL_SECONDS, self.assignment.folder):
            unwrap_reply(run_probe(self.assignment, lambda _: made.append(work()), ()))
        return made[0]

    def compare(self, work: Rate, block: Block, plain: Block) -> Figure:
        """Return the figure of blocks that take turns with plain torch's."""
        kind, model, dtype = self.stopwatch.kind, device(self.stopwatch.name), dtype_of(self.size)
        thresholds, peak = thresholds_on(model, kind, self.workload, dtype)
        until, once = time.monotonic() + WARM_UP_SECONDS[kind], math.inf
        while math.isinf(once) or time.monotonic() < until:
            once = self.stopwatch.seconds(plain) / CALLS
        times = block_length(once, BLOCK_SECONDS[kind], BLOCK_SECONDS[kind], CALLS)[1]

        def rate(block: Block, amount: float) -> float:
            return times * CALLS * amount / self.stopwatch.seconds(lambda: [block() for _ in range(times)])

        def plain_rate() -> float:
            return rate(plain, work.baseline_amount(self.size))

        verdict: Final | Retry = Retry("")
        attempt = 0
        while isinstance(verdict, Retry):
            attempt += 1
            verdict, ceiling = compare_rates(
                lambda: (rate(block, work.amount(self.size)), 0.0),
                plain_rate,
                [plain_rate() for _ in range(OPENING_BLOCKS)],
                tolerance=lambda: 0.0,  # `demand_right` has looked at the results
                thresholds=thresholds,
                rules=RULES[kind],
                peak=peak,
                attempt=attempt,
            )
        promised = peak_on(model, dtype) if work.unit == "FLOP" else None
        mfu = verdict.median * ceiling / promised if promised and verdict.median is not None else None
        return Figure(verdict, as_ratios(thresholds, peak, ceiling), mfu, self.shrunk)


def fitting(work: Work, size: Size, free: int) -> Size:
    """Return the size itself, or with its batch (an optimizer's: its parameters) halved until it fits."""
    while (needed := HEADROOM * bytes_needed(work.fields(size, CALLS), on_host=False)) > free:
        smaller = replace(size, batch=size.batch // 2, parameters=size.parameters // 2)
        if not (smaller.batch or smaller.parameters):
            pytest.skip(f"it needs {needed / 2**30:.1f} GiB on the device, where {free / 2**30:.1f} are free")
        size = smaller
    return size


def shrunk(whole: Size, size: Size) -> str:
    """Return what was made smaller to fit, in words; "" for nothing."""
    if size == whole:
        return ""
    name = "batch" if whole.batch else "parameters"
    return f"{name} {getattr(size, name)} in place of {getattr(whole, name)}: more does not fit on the device"
