"""Measures a rate by alternating blocks of the baseline and the student until there is a verdict.

B B B │ S B S B S B …     B: the baseline   S: the student, whose code is loaded after the first three blocks
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from grader.speed.calibration import compare_with_calibration
from grader.speed.machine import Machine
from grader.speed.timed_worker import Task, TimedWorker, most_calls
from torchkata.course import Tiers, Workload
from torchkata.seam.failures import Inconclusive
from torchkata.speed.datasheets import NAMES
from torchkata.speed.decision import (
    OPENING_BLOCKS,
    RULES,
    Final,
    Retry,
    as_ratios,
    block_length,
    compare_rates,
    peak_on,
    thresholds_on,
)
from torchkata.speed.freivalds import OWN_MARGIN
from torchkata.speed.layout import dtype_of
from torchkata.speed.workload import Rate, work_of

SLOWEST = 10.0  # a block is stopped if it takes this many times as long as a block that barely passes
PATIENCE_SECONDS = 3.0  # minimum time limit of a block
TRUSTED_SECONDS = 120.0


@dataclass(frozen=True)
class Measured:
    """A measured rate and the verdict on it."""

    verdict: Final
    rate: float | None  # median rate in work units per second
    thresholds: Tiers  # shares of the baseline's rate
    mfu: float | None  # median MFU, if the peak of the device is known


def rate_work(task: Task) -> Rate:
    """Return the workload object of a task, which must be measured as a rate."""
    assert isinstance(task.work, Rate)
    return task.work


class Baseline:
    """A worker that performs the work in plain torch."""

    def __init__(self, machine: Machine, task: Task) -> None:
        work = rate_work(task)
        self.timed = TimedWorker(machine.baseline, machine.limits, task, None, machine.accelerator)
        self.work = work.baseline_amount(task.size) * task.calls * task.times
        self.comparable = work.same_as_baseline
        self.own_error = 0.0

    def rate(self) -> float:
        """Time another block and return its rate in work units per second.

        Raises Inconclusive if the block fails or its result is wrong.
        """
        return self.work / self.block_seconds()

    def block_seconds(self) -> float:
        """Time another block and return its duration in seconds.

        Raises Inconclusive if the block fails or its result is wrong.
        """
        block = self.timed.block(TRUSTED_SECONDS)
        if self.comparable and not math.isfinite(block.error):
            raise Inconclusive("plain torch gave a wrong result on this device")
        if self.comparable:
            self.own_error = max(self.own_error, block.error)
        return block.seconds

    def warm_up(self, seconds: float) -> None:
        """Run work for this many seconds and discard the results."""
        until = time.monotonic() + seconds
        self.rate()
        while time.monotonic() < until:
            self.rate()
        self.own_error = 0.0


def measure(machine: Machine, workload: Workload, files: Mapping[str, bytes]) -> Measured:
    """Measure a workload of a submission. A failure raises one of the exceptions in `torchkata.seam.failures`."""
    task = choose_task(machine, workload)
    attempt = 1
    while True:
        verdict, ceiling = run_attempt(machine, workload, task, files, attempt)
        if isinstance(verdict, Final):
            rate = verdict.median and verdict.median * ceiling
            dtype = dtype_of(task.size)
            peak = peak_on(machine.device, dtype) if rate_work(task).unit == "FLOP" else None
            thresholds = as_ratios(*thresholds_on(machine.device, machine.kind, workload, dtype), ceiling)
            return Measured(verdict, rate, thresholds, mfu=rate / peak if rate and peak else None)
        attempt += 1


def run_attempt(
    machine: Machine, workload: Workload, task: Task, files: Mapping[str, bytes], attempt: int
) -> tuple[Final | Retry, float]:
    """Time blocks until there is a verdict. Return the verdict and the highest rate of the baseline."""
    machine.trouble()
    baseline = Baseline(machine, task)
    student: TimedWorker | None = None
    try:
        baseline.warm_up(machine.warm_up_seconds(attempt))
        rates = [baseline.rate() for _ in range(OPENING_BLOCKS)]
        machine.worked = time.monotonic()
        opening = median(rates)
        slow = check_calibration(machine, task, opening)
        student = TimedWorker(machine.student, machine.limits, task, files, machine.accelerator)
        work = rate_work(task).amount(task.size) * task.calls * task.times
        allowed = PATIENCE_SECONDS + SLOWEST * work / (opening * workload.ratio[machine.kind].passing)
        thresholds, peak = thresholds_on(machine.device, machine.kind, workload, dtype_of(task.size))
        timed = student

        def block() -> tuple[float, float]:
            done = timed.block(allowed)
            return work / done.seconds, done.error

        def plain_block() -> float:
            rate = baseline.rate()
            machine.worked = time.monotonic()
            return rate

        return compare_rates(
            block,
            plain_block,
            rates,
            tolerance=lambda: compute_tolerance(timed, baseline),
            thresholds=thresholds,
            rules=RULES[machine.kind],
            peak=peak,
            trouble=lambda: slow or machine.trouble(),
            attempt=attempt,
        )
    finally:
        try:
            if student is not None:
                student.close()  # last started, first closed: each waits until as much memory is free as at its start
        finally:
            baseline.timed.close()


def compute_tolerance(student: TimedWorker, baseline: Baseline) -> float:
    """Return the maximum relative error: that of the dtype or, if larger, OWN_MARGIN times that of plain torch."""
    return max(student.check.floor, OWN_MARGIN * baseline.own_error)


def check_calibration(machine: Machine, task: Task, opening: float) -> str:
    """Return a message if the baseline's matmul is much slower than during calibration, otherwise ""."""
    if rate_work(task).roof != "compute":
        return ""
    return compare_with_calibration(machine.calibration, NAMES[dtype_of(task.size)], opening)


def choose_task(machine: Machine, workload: Workload) -> Task:
    """Choose the number of calls per block so that a block of the baseline is long enough, as far as memory allows."""
    work = work_of(workload.name)
    size = work.sizes[machine.kind]
    most = min(most_calls(work, machine.kind, size, machine.arena_bytes), machine.demands.most_calls)
    trial = Task(workload.name, machine.kind, size, min(2, most))
    baseline = Baseline(machine, trial)
    try:
        baseline.warm_up(0.0)
        once = median(baseline.block_seconds() for _ in range(OPENING_BLOCKS)) / trial.calls
    finally:
        baseline.timed.close()
    calls, times = block_length(once, machine.demands.block_seconds, machine.demands.least_seconds, most)
    return Task(workload.name, machine.kind, size, calls, times)
