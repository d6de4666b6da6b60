"""The grader's clock against torch's own benchmark.

Both clocks time the same product, turn about. On a busy CPU wall time counts the waiting for a core, too, which the
grader's does not: so the benchmark is asked for wall time and, in a line of its own, for the processor's.
"""

import importlib.util
import mmap
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch.utils.benchmark import Timer

from grader.sandbox.launch import Sandbox, connect_zygote
from grader.speed import setup
from grader.speed.rates import Baseline, choose_task
from grader.speed.timed_worker import Task
from torchkata.course import course
from torchkata.speed.layout import bytes_needed, lay_out
from torchkata.speed.sizes import Kind

WORKLOAD = "linear_forward"
TURNS = 15
AIM = 0.03


@dataclass(frozen=True)
class Turn:
    """Work units a second by each clock, one right after the other."""

    ours: float
    theirs: dict[str, float]


def shares(turns: Iterable[Turn]) -> dict[str, list[float]]:
    """Ours as a share of each other clock, turn by turn."""
    found: dict[str, list[float]] = {}
    for turn in turns:
        for clock, theirs in turn.theirs.items():
            found.setdefault(clock, []).append(turn.ours / theirs)
    return found


def measured(kind: Kind, sandbox: Sandbox) -> Iterator[Turn]:
    """The baseline's product by the grader's clock, and the same in this process by others."""
    machine = setup.open_machine(kind, connect_zygote(sandbox), connect_zygote(sandbox))
    task = choose_task(machine, course().workloads[WORKLOAD])
    clocks = dict(others(task))
    baseline = Baseline(machine, task)
    try:
        baseline.warm_up(machine.demands.warm_up_seconds)
        for _ in range(TURNS):
            before = baseline.rate()
            theirs = {name: baseline.work / clock() for name, clock in clocks.items()}
            yield Turn((before + baseline.rate()) / 2, theirs)
    finally:
        baseline.timed.close()


def others(task: Task) -> Iterator[tuple[str, Callable[[], float]]]:
    """Other clocks for the seconds of a block of this task, done by this process, where the worker does it."""
    chosen = task.work.fields(task.size, task.calls)
    if task.kind == "cpu":
        torch.set_num_threads(1)
        os.sched_setaffinity(0, {setup.plan_workers().core or 0})
    size = bytes_needed(chosen)
    shared = torch.frombuffer(mmap.mmap(-1, size), dtype=torch.uint8)  # in small pages, as what a worker shares with us
    memory = shared if task.kind == "cpu" else torch.empty(size, dtype=torch.uint8, device=task.kind)
    tensors = lay_out(chosen, memory, memory)
    for name in ("x", "weight"):
        tensors[name].uniform_(-1, 1)
    run = task.work.baseline(task.size, tensors, task.kind)
    wall = Timer("run()", globals={"run": run})
    wall.timeit(2)  # warm
    if task.kind == "cpu":
        processor = Timer("run()", globals={"run": run}, timer=time.process_time)
        yield "torch.utils.benchmark, processor time", lambda: processor.timeit(1).median
    yield "torch.utils.benchmark, wall time", lambda: wall.timeit(1).median
    if task.kind == "cuda":
        yield "CUDA events", lambda: by_events(run)
    if task.kind == "cuda" and importlib.util.find_spec("triton"):
        from triton.testing import do_bench

        yield "triton.testing.do_bench", lambda: do_bench(run, return_mode="median") / 1e3


def by_events(run: Callable[[], object]) -> float:
    """Seconds of the work by the device's own clock."""
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    began.record()
    run()
    ended.record()
    ended.synchronize()
    return float(began.elapsed_time(ended)) / 1e3
