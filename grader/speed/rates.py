"""Measures a rate: blocks of the baseline and of the student take turns, until there is a verdict.

Y Y Y │ S Y S Y S Y …     Y: the baseline   S: the student, who has begun only after the first three
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from grader.speed.calibration import fallen
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

SLOWEST = 10.0  # times slower than what passes: not worth waiting for
PATIENCE_SECONDS = 3.0  # that every block has
TRUSTED_SECONDS = 120.0


@dataclass(frozen=True)
class Measured:
    """A rate and what it earns."""

    verdict: Final
    rate: float | None  # of the median, in work units a second
    thresholds: Tiers  # as shares of the baseline's rate
    mfu: float | None  # of the median, where the device's peak is known


def rate_of(task: Task) -> Rate:
    """What is done, which is measured as a rate."""
    assert isinstance(task.work, Rate)
    return task.work


class Baseline:
    """The plain work, timed whenever it is asked for."""

    def __init__(self, machine: Machine, task: Task) -> None:
        work = rate_of(task)
        self.timed = TimedWorker(machine.baseline, machine.limits, task, None, machine.accelerator)
        self.work = work.baseline_amount(task.size) * task.calls * task.times
        self.comparable = work.same_as_baseline
        self.own_error = 0.0

    def rate(self) -> float:
        """Of one more block, in work units a second. Raises Inconclusive."""
        return self.work / self.block_seconds()

    def block_seconds(self) -> float:
        """How long one more block takes. Raises Inconclusive, a wrong result among the reasons."""
        block = self.timed.block(TRUSTED_SECONDS)
        if self.comparable and not math.isfinite(block.error):
            raise Inconclusive("plain torch's own result was wrong on this device")
        if self.comparable:
            self.own_error = max(self.own_error, block.error)
        return block.seconds

    def warm_up(self, seconds: float) -> None:
        """Work for so long, and forget how fast."""
        until = time.monotonic() + seconds
        self.rate()
        while time.monotonic() < until:
            self.rate()
        self.own_error = 0.0


def measure(machine: Machine, workload: Workload, files: Mapping[str, bytes]) -> Measured:
    """One workload of one submission. Raises what `torchkata.seam.failures` has."""
    task = sized(machine, workload)
    attempt = 1
    while True:
        verdict, ceiling = one_attempt(machine, workload, task, files, attempt)
        if isinstance(verdict, Final):
            rate = verdict.median and verdict.median * ceiling
            dtype = dtype_of(task.size)
            peak = peak_on(machine.device, dtype) if rate_of(task).unit == "FLOP" else None
            thresholds = as_ratios(*thresholds_on(machine.device, machine.kind, workload, dtype), ceiling)
            return Measured(verdict, rate, thresholds, mfu=rate / peak if rate and peak else None)
        attempt += 1


def one_attempt(
    machine: Machine, workload: Workload, task: Task, files: Mapping[str, bytes], attempt: int
) -> tuple[Final | Retry, float]:
    """Samples until there is a verdict; it, and the baseline's highest rate."""
    machine.trouble()
    baseline = Baseline(machine, task)
    student: TimedWorker | None = None
    try:
        baseline.warm_up(machine.warm_up_seconds(attempt))
        rates = [baseline.rate() for _ in range(OPENING_BLOCKS)]
        machine.warmth.keep()
        opening = median(rates)
        slow = slower_than_once(machine, task, opening)
        student = TimedWorker(machine.student, machine.limits, task, files, machine.accelerator)
        work = rate_of(task).amount(task.size) * task.calls * task.times
        allowed = PATIENCE_SECONDS + SLOWEST * work / (opening * workload.ratio[machine.kind].passing)
        thresholds, peak = thresholds_on(machine.device, machine.kind, workload, dtype_of(task.size))
        timed = student

        def block() -> tuple[float, float]:
            done = timed.block(allowed)
            return work / done.seconds, done.error

        def plain_block() -> float:
            rate = baseline.rate()
            machine.warmth.keep()
            return rate

        return compare_rates(
            block,
            plain_block,
            rates,
            tolerance=lambda: tolerance(timed, baseline),
            thresholds=thresholds,
            rules=RULES[machine.kind],
            peak=peak,
            trouble=lambda: slow or machine.trouble(),
            attempt=attempt,
        )
    finally:
        try:
            if student is not None:
                student.close()  # the later one first: each is over when memory is as it was when it began
        finally:
            baseline.timed.close()


def tolerance(student: TimedWorker, baseline: Baseline) -> float:
    """The largest relative error that is right: what the dtype allows, or half as much again as plain torch's own."""
    return max(student.check.floor, OWN_MARGIN * baseline.own_error)


def slower_than_once(machine: Machine, task: Task, opening: float) -> str:
    """What a plain product says of a device that was calibrated; "" for nothing, or for a workload that is none."""
    if rate_of(task).roof != "compute":
        return ""
    return fallen(machine.calibration, NAMES[dtype_of(task.size)], opening)


def sized(machine: Machine, workload: Workload) -> Task:
    """The task whose block takes the baseline long enough, as far as memory goes."""
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
