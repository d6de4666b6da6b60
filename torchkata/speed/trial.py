"""Times a workload in the pytest process, for `pytest -m gpu`, and judges the speed in the same way as the grader.

These times are never used for grading, because student code could manipulate the clock of its own process.
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
    compare_rates,
    judge_share,
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
HEADROOM = 4  # memory to reserve for models, gradients and temporaries, as a multiple of inputs and results

T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """A verdict, and the thresholds that it is based on."""

    verdict: Final
    thresholds: Tiers  # relative to the baseline's rate
    mfu: float | None = None  # relative to the device's peak, if known
    shrunk: str = ""  # a note if the size was reduced to fit into memory


class Trial:
    """A workload that is ready to be measured on a device. The test is skipped if the device has too little memory."""

    def __init__(self, workload: Workload, assignment: Assignment, stopwatch: Stopwatch) -> None:
        self.workload = workload
        self.work = work_of(workload.name)
        self.assignment = assignment
        self.stopwatch = stopwatch
        whole = self.work.sizes[stopwatch.kind]
        self.size = shrink_to_fit(self.work, whole, stopwatch.free_bytes())
        self.shrunk = describe_shrinking(whole, self.size)
        self.memory = {
            name: torch.empty(field.shape, dtype=field.dtype, device="cpu" if field.on_host else stopwatch.kind)
            for name, field in self.work.fields(self.size, CALLS).items()
        }
        self.check = self.work.check(self.memory, self.memory, self.size)

    def measure(self) -> Figure:
        """Check the results and measure the workload.

        Raises Wrong if a result is wrong, or NotStarted, Crashed or TimedOut if student code does not return.
        """
        kind = self.stopwatch.kind
        self.check.prepare()
        plain = self.work.baseline(self.size, self.memory, kind)
        student_block = self.run_student(lambda: self.work.student(self.assignment, self.size, self.memory, kind))
        self.check.begun()

        def block() -> object:
            return self.run_student(student_block)

        self.check_results(block, plain)
        if isinstance(self.work, Rate):
            return self.compare(self.work, block, plain)
        thresholds = self.workload.ratio[kind]
        return Figure(judge_share(self.measure_share(block), thresholds), thresholds, shrunk=self.shrunk)

    def check_results(self, block: Block, plain: Block) -> None:
        """Raise Wrong if the error is too large for a rounding error and much larger than that of plain torch."""
        error, tolerance = self.measure_error(block), self.check.floor
        if not error <= tolerance and isinstance(self.work, Rate) and self.work.same_as_baseline:
            own = self.measure_error(plain)
            tolerance = max(tolerance, OWN_MARGIN * own if math.isfinite(own) else 0.0)
        message = f"the result is wrong: its relative error is {error:.2g}, and rounding explains only {tolerance:.2g}"
        check(error <= tolerance, message)

    def measure_error(self, block: Block) -> float:
        """Run a block with new inputs and return the relative error of its results."""
        self.check.refresh()
        block()
        return self.check.error()

    def measure_share(self, block: Block) -> float:
        """Measure a workload whose result is a share instead of a rate."""
        match self.work:
            case HostWait():
                return float(self.stopwatch.lead(block) >= LEAD_SECONDS)
            case MemoryPeak():
                return self.work.needed_bytes(self.size) / max(1, self.stopwatch.peak_bytes(block))
        raise TypeError(f"{type(self.work).__name__} is not measured")

    def run_student(self, work: Callable[[], T]) -> T:
        """Call a function that runs student code. Raises NotStarted, Crashed or TimedOut if it does not return."""
        results: list[T] = []
        with limit_wall_time(CALL_SECONDS, self.assignment.folder):
            unwrap_reply(run_probe(self.assignment, lambda _: results.append(work()), ()))
        return results[0]

    def compare(self, work: Rate, block: Block, plain: Block) -> Figure:
        """Time blocks of the student's code and of plain torch alternately, and return the verdict."""
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
                tolerance=lambda: 0.0,  # the results have already been checked by `check_results`
                thresholds=thresholds,
                rules=RULES[kind],
                peak=peak,
                attempt=attempt,
            )
        promised = peak_on(model, dtype) if work.unit == "FLOP" else None
        mfu = verdict.median * ceiling / promised if promised and verdict.median is not None else None
        return Figure(verdict, as_ratios(thresholds, peak, ceiling), mfu, self.shrunk)


def shrink_to_fit(work: Work, size: Size, free: int) -> Size:
    """Halve the batch size (or the number of an optimizer's parameters) until the workload fits into memory."""
    while (needed := HEADROOM * bytes_needed(work.fields(size, CALLS), on_host=False)) > free:
        smaller = replace(size, batch=size.batch // 2, parameters=size.parameters // 2)
        if not (smaller.batch or smaller.parameters):
            pytest.skip(f"needs {needed / 2**30:.1f} GiB of device memory, but only {free / 2**30:.1f} GiB are free")
        size = smaller
    return size


def describe_shrinking(whole: Size, size: Size) -> str:
    """Return a note about the reduced size, or "" if the size was not reduced."""
    if size == whole:
        return ""
    name = "batch" if whole.batch else "parameters"
    return f"{name} {getattr(size, name)} instead of {getattr(whole, name)}, to fit in device memory"
