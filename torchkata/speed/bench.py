"""Measures a workload: alternates blocks of plain torch and of the student's code until there is a verdict.

B B B │ S B S B S B …     B: the baseline   S: the student, whose code is loaded after the first three blocks

`pytest -m gpu` and the grader both use this module. They differ only in their `Bench`, which says where blocks run and
whose clock times them: the student's own process, or two workers that the grader times from outside.
"""

import math
import time
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from torchkata.course import Tiers, Workload
from torchkata.i18n import _
from torchkata.inside.speed.device import Device
from torchkata.inside.speed.freivalds import OWN_MARGIN
from torchkata.inside.speed.layout import dtype_of
from torchkata.inside.speed.sizes import Kind, Size
from torchkata.inside.speed.workload import work_of
from torchkata.seam.failures import Inconclusive

from .decision import RULES, Final, More, Retry, Sample, Verdict, as_ratios, bound_on, judge, peak_on, thresholds_on

OPENING_BLOCKS = 3  # baseline blocks before the first sample
WARM_SECONDS = 10.0  # how long a device stays warm after it has worked
SLOWEST = 10.0  # a block is stopped if it takes this many times as long as a block that barely passes
PATIENCE_SECONDS = 3.0  # minimum time limit of a block


@dataclass(frozen=True)
class Demands:
    """Requirements for timing on a kind of device."""

    block_seconds: float  # target, if memory allows; much longer than the 0.1 ms that a pause and a reply take
    warm_up_seconds: float
    least_seconds: float = 0.0  # minimum; if there is too little memory, the calls are repeated with new inputs
    most_calls: int = 512


DEMANDS: dict[Kind, Demands] = {
    "cpu": Demands(block_seconds=0.06, warm_up_seconds=0.2),
    "cuda": Demands(block_seconds=0.25, warm_up_seconds=3.0, least_seconds=0.1),
}


@dataclass(frozen=True)
class TimedBlock:
    """The duration of a block in seconds, and the relative error of its results."""

    seconds: float
    error: float


class Bench(Protocol):
    """Runs and times blocks of a workload on a device.

    Starting and running student code raises one of the exceptions in `torchkata.seam.failures` if it does not return.
    """

    kind: Kind
    device: Device | None  # the datasheet values of the device, if known
    workload: Workload
    size: Size
    calls: int  # number of calls in a block
    worked: float  # when the device worked last after a warm-up, according to `time.monotonic`

    @property
    def floor(self) -> float:
        """The largest relative error that any correct result can have."""

    def start_baseline(self) -> None:
        """Set up the blocks of plain torch."""

    def start_student(self, patience: float) -> None:
        """Load the student's code and set up its blocks, each of which may take `patience` seconds."""

    def run_baseline(self) -> TimedBlock:
        """Run a block of plain torch with new inputs."""

    def run_student(self) -> TimedBlock:
        """Run a block of the student's code with new inputs."""

    def trouble(self) -> str:
        """Return a problem of the device that has occurred since the last call, or ""."""

    def close(self) -> None:
        """End everything that was started."""


@dataclass(frozen=True)
class Reading:
    """A verdict, and the values that it is based on."""

    verdict: Final
    thresholds: Tiers  # relative to the baseline's rate
    rate: float | None = None  # median rate in work units per second
    mfu: float | None = None  # the rate as a fraction of the peak, if the peak of the device is known


class Baseline:
    """The blocks of plain torch on a bench. `own_error` is the largest error of their results since the warm-up."""

    def __init__(self, bench: Bench) -> None:
        work = work_of(bench.workload.name)
        self.bench = bench
        self.amount = work.baseline_amount(bench.size) * bench.calls  # work units in a block
        self.comparable = work.same_as_baseline
        self.own_error = 0.0

    def run(self) -> float:
        """Run a block and return its rate in work units per second. Raises Inconclusive if its result is wrong."""
        block = self.bench.run_baseline()
        if self.comparable and not math.isfinite(block.error):
            raise Inconclusive(_("plain torch gave a wrong result on this device"))
        if self.comparable:
            self.own_error = max(self.own_error, block.error)
        return self.amount / block.seconds

    def warm_up(self, seconds: float) -> None:
        """Run at least one block and continue for this many seconds. Discard the results."""
        until = time.monotonic() + seconds
        self.run()
        while time.monotonic() < until:
            self.run()
        self.own_error = 0.0


def measure(bench: Bench) -> Reading:
    """Measure the workload of a bench. A failure raises one of the exceptions in `torchkata.seam.failures`."""
    verdict: Final | Retry = Retry("")
    attempt = 0
    while isinstance(verdict, Retry):
        attempt += 1
        try:
            verdict, ceiling = run_attempt(bench, attempt)
        finally:
            bench.close()
    dtype = dtype_of(bench.size)
    rate = verdict.median and verdict.median * ceiling
    peak = peak_on(bench.device, dtype) if work_of(bench.workload.name).unit == "FLOP" else None
    thresholds = as_ratios(*thresholds_on(bench.device, bench.kind, bench.workload, dtype), ceiling)
    return Reading(verdict, thresholds, rate, rate / peak if rate and peak else None)


def run_attempt(bench: Bench, attempt: int) -> tuple[Final | Retry, float]:
    """Time blocks until there is a verdict. Return the verdict and the highest rate of the baseline."""
    bench.trouble()
    bench.start_baseline()
    baseline = Baseline(bench)
    is_warm = attempt == 1 and time.monotonic() - bench.worked < WARM_SECONDS
    baseline.warm_up(0.0 if is_warm else DEMANDS[bench.kind].warm_up_seconds)
    opening = [baseline.run() for _ in range(OPENING_BLOCKS)]
    bench.worked = time.monotonic()
    amount = work_of(bench.workload.name).amount(bench.size) * bench.calls
    slowest = amount / (median(opening) * bench.workload.ratio[bench.kind].passing)
    bench.start_student(PATIENCE_SECONDS + SLOWEST * slowest)
    thresholds, peak = thresholds_on(bench.device, bench.kind, bench.workload, dtype_of(bench.size))
    bound = bound_on(bench.device, work_of(bench.workload.name), dtype_of(bench.size))
    rules, rates, samples = RULES[bench.kind], [*opening], list[Sample]()
    wrong = bench.run_student().error  # the first block is a warm-up: its time is ignored, but its result is checked
    verdict: Verdict = More(rules.looks[0])
    while isinstance(verdict, More):
        for _sample in range(verdict.samples):
            block = bench.run_student()
            rates.append(baseline.run())
            bench.worked = time.monotonic()
            wrong = max(wrong, block.error)
            samples.append(Sample(amount / block.seconds, rates[-2], rates[-1], wrong))
            tolerance = max(bench.floor, OWN_MARGIN * baseline.own_error)
            if not wrong <= tolerance:
                break
        verdict = judge(
            samples,
            opening=median(opening),
            tolerance=tolerance,
            thresholds=thresholds,
            rules=rules,
            peak=peak,
            bound=bound,
            trouble=bench.trouble(),
            attempt=attempt,
        )
    return verdict, max(rates)


def block_length(once: float, kind: Kind, most_calls: int) -> tuple[int, int]:
    """Return the number of calls per block and the number of repetitions, for a call that takes `once` seconds.

    A block has at most `most_calls` calls, because more would not fit into memory.
    """
    demands = DEMANDS[kind]
    calls = max(1, min(round(demands.block_seconds / once), most_calls, demands.most_calls))
    return calls, max(1, math.ceil(demands.least_seconds / (calls * once)))
