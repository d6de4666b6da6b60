"""How often the verdict on a workload errs, and the seconds of a device it takes. Run: python -m benchmarks.decisions

Simulated, without a device: the loop is that of `grader/speed/rates.py`, on workers that say how long a block took and
do nothing. Each figure is given before and after: with looks at ten and at twenty samples alone and a whole warm-up for
every workload, and as it is.

--gradings N           of each student in each line, 1500 if nothing is said
--start SECONDS        that a worker takes to start CUDA: not known without a device, 0 if nothing is said
"""

import argparse
import math
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from grader.speed import machine as machines
from grader.speed import rates
from grader.speed.figures import ATTEMPTS, STEPS
from grader.speed.machine import DEMANDS, WARM_SECONDS, Machine
from grader.speed.timed_worker import Task
from reference.workloads.training import step_flops
from torchkata.course import Tiers, Workload, course
from torchkata.failures import TimedOut
from torchkata.speed.decision import RULES, Final, Rules
from torchkata.speed.devices import device as promised
from torchkata.speed.layout import dtype_of
from torchkata.speed.workload import Rate, work_of

NOISES = (0.01, 0.03, 0.1)  # of a block's time, student's and baseline's alike: the standard deviation of its logarithm
SHARES = (0.1, 0.3, 0.5, 0.58, 0.6, 0.7, 0.75, 0.9, 1.1)  # of the baseline's rate; 0.6 passes, 0.75 earns all
SUBMISSIONS = {"as fast as plain torch": 1.0, "half as fast": 0.5, "a tenth as fast": 0.1}
WARMING_SECONDS = 20.0  # in which a device comes about two thirds of the way from cold to hot
BLOCK = DEMANDS["cuda"].block_seconds
MODEL, REACHED = "NVIDIA H100 80GB HBM3", 0.7  # of its peak, by the training steps of what is no rate
RANK = {None: 0, "passing": 1, "full": 2}


@dataclass(frozen=True)
class Situation:
    """What is wrong, beside noise."""

    name: str
    fading: float = 0.0  # the share of its rate that a device loses as it becomes hot
    queued: float = 0.0  # the share of a block for which a student's work goes on into the baseline's


SITUATIONS = (Situation("steady"), Situation("slows as it warms", fading=0.06), Situation("queues", queued=0.04))


@dataclass
class SimulatedDevice:
    """Time passes while it works, and while workers start."""

    share: float  # the student's, of the baseline's rate
    noise: float
    situation: Situation
    start: float
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    now: float = 0.0
    heat: float = 0.0
    late: float = 0.0  # seconds of work that a student has left behind
    blocks: int = 0  # of the student's

    def work(self, seconds: float) -> float:
        """Do what takes so long on a cold device that is quiet; how long it takes here."""
        took = seconds * math.exp(self.chance.gauss(0, self.noise)) / (1 - self.situation.fading * self.heat)
        self.heat = 1 - (1 - self.heat) * math.exp(-took / WARMING_SECONDS)
        self.now += took
        return took

    def start_worker(self) -> None:
        """It stands still meanwhile."""
        self.heat *= math.exp(-self.start / WARMING_SECONDS)
        self.now += self.start


class SimulatedWorker:
    """Stands for a `TimedWorker`; the device is what stands for the line to its zygote."""

    check = SimpleNamespace(floor=0.0)

    def __init__(self, device: SimulatedDevice, _limits: object, task: Task, files: object, *_: object) -> None:
        self.device, self.trusted = device, files is None
        work = rates.rate_of(task)
        self.seconds = BLOCK
        if not self.trusted:
            self.seconds *= work.amount(task.size) / work.baseline_amount(task.size) / device.share
        device.start_worker()

    def block(self, allowed: float) -> Any:
        """One block."""
        device = self.device
        took = device.work(self.seconds)
        if self.trusted:
            took, device.now, device.late = took + device.late, device.now + device.late, 0.0
        else:
            device.blocks, device.late = device.blocks + 1, device.situation.queued * BLOCK
        if took > allowed:
            raise TimedOut(f"no answer within {allowed:.3g} seconds")
        return SimpleNamespace(seconds=took, error=0.0)

    def close(self) -> None:
        """It has ended."""


def sized(machine: Machine, workload: Workload) -> Task:
    """A task whose block takes as long as it should; its size is found by a worker that is hardly at work."""
    device: Any = machine.baseline
    device.start_worker()
    return Task(workload.name, "cuda", work_of(workload.name).sizes["cuda"], 1)


@contextmanager
def simulated(device: SimulatedDevice, rules: Rules, warm_seconds: float) -> Iterator[None]:
    """Let the grader's own loop run on this device."""
    clock = SimpleNamespace(monotonic=lambda: device.now)
    loop: Any = {"TimedWorker": SimulatedWorker, "sized": sized, "time": clock, "RULES": {"cuda": rules}}
    with patch.multiple(rates, **loop), patch.multiple(machines, time=clock, WARM_SECONDS=warm_seconds):
        yield


BEFORE = (replace(RULES["cuda"], looks=(10, 20)), 0.0)
AFTER = (RULES["cuda"], WARM_SECONDS)


def machine_of(device: Any) -> Machine:
    """It has just been switched on."""
    device.heat = 0.0
    return Machine("cuda", "simulated", None, 0, course().limits, device, device, lambda: "")


def verdict_on(machine: Machine, workload: Workload) -> Final:
    """Of the student, whose files nobody reads."""
    try:
        return rates.measure(machine, workload, {}).verdict
    except TimedOut:
        return Final("failed")


@dataclass(frozen=True)
class Tally:
    """What came of many gradings of one student; shares, and means."""

    false_fails: float
    false_passes: float
    inconclusive: float
    blocks: float  # of the student's, those that don't count among them
    seconds: float


def tally(device: SimulatedDevice, workload: Workload, gradings: int, rules: Rules, warm_seconds: float) -> Tally:
    """Grade one student again and again, each time on a device that is cold."""
    deserved = rank_of(device.share, workload.ratio["cuda"])
    fails = passes = inconclusive = 0
    with simulated(device, rules, warm_seconds):
        for _ in range(gradings):
            verdict = verdict_on(machine_of(device), workload)
            inconclusive += verdict.outcome == "inconclusive"
            fails += verdict.outcome != "inconclusive" and RANK[verdict.tier] < deserved
            passes += RANK[verdict.tier] > deserved
    return Tally(*(total / gradings for total in (fails, passes, inconclusive, device.blocks, device.now)))


def rank_of(share: float, thresholds: Tiers) -> int:
    """What a student of this share earns where there is no noise."""
    return (share >= thresholds.passing) + (share >= thresholds.full)


def show_errors(gradings: int, start: float) -> None:
    """A line for each device and noise: errors of the student for whom they are most, and means of all."""
    workload = course().workloads["linear_forward"]
    row("noise", "device", "false fails, at most", "false passes, at most", "inconclusive", "blocks", "seconds")
    row(*["---"] * 7)
    for noise, situation in product(NOISES, SITUATIONS):
        before, after = (
            {s: tally(SimulatedDevice(s, noise, situation, start), workload, gradings, *how) for s in SHARES}
            for how in (BEFORE, AFTER)
        )
        row(
            f"{noise:.0%}",
            situation.name,
            *(f"{worst(before, name)} → {worst(after, name)}" for name in ("false_fails", "false_passes")),
            f"{mean_of(before, 'inconclusive'):.1%} → {mean_of(after, 'inconclusive'):.1%}",
            *(f"{mean_of(before, name):.1f} → {mean_of(after, name):.1f}" for name in ("blocks", "seconds")),
        )


def worst(tallies: Mapping[float, Tally], name: str) -> str:
    """The largest figure of this name, and the share of whose it is."""
    share = max(tallies, key=lambda share: getattr(tallies[share], name))
    found = getattr(tallies[share], name)
    return f"{found:.2%} (at {share:g})" if found else "0"


def mean_of(tallies: Mapping[float, Tally], name: str) -> float:
    """Of all students."""
    return fmean(getattr(tally, name) for tally in tallies.values())


def submission_seconds(share: float, start: float, submissions: int, rules: Rules, warm_seconds: float) -> float:
    """Of the device, for all workloads of one submission, at the least noise."""
    device = SimulatedDevice(share, NOISES[0], SITUATIONS[0], start)
    with simulated(device, rules, warm_seconds):
        for _ in range(submissions):
            machine = machine_of(device)
            for workload in course().workloads.values():
                if isinstance(work_of(workload.name), Rate):
                    verdict_on(machine, workload)
                else:
                    figure(device, workload)
    return device.now / submissions


def figure(device: SimulatedDevice, workload: Workload) -> None:
    """What is no rate is tried until it is reached, if ever."""
    work, model = work_of(workload.name), promised(MODEL)
    size = work.sizes["cuda"]
    peak = model and model.peak(dtype_of(size))
    assert peak
    seconds = STEPS * step_flops(size.batch, size.width, size.layers) / (REACHED * peak)
    for _ in range(1 if device.share >= workload.ratio["cuda"].full else ATTEMPTS):
        device.start_worker()
        device.work(seconds)


def row(*cells: str) -> None:
    """Of a table in Markdown."""
    print("|", " | ".join(cells), "|", flush=True)


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions")
    parser.add_argument("--gradings", type=int, default=1500, metavar="N")
    parser.add_argument("--start", type=float, default=0.0, metavar="SECONDS")
    chosen = parser.parse_args()
    row("submission", f"seconds of a device for all {len(course().workloads)} workloads")
    row("---", "---")
    for name, share in SUBMISSIONS.items():
        before, after = (
            submission_seconds(share, chosen.start, chosen.gradings // 100, *how) for how in (BEFORE, AFTER)
        )
        row(name, f"{before:.1f} → {after:.1f}")
    print()
    show_errors(chosen.gradings, chosen.start)


if __name__ == "__main__":
    main()
