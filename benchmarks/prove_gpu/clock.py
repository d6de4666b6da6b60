"""Compare the grader's timing with torch's own benchmark.

The grader and torch's benchmark time the same matrix multiplication in turns. On a busy CPU, wall time includes the
time spent waiting for a core, which the grader excludes. Therefore, torch's benchmark runs once with wall time and once
with processor time.
"""

import mmap
import os
import time
from collections.abc import Callable, Iterator

import torch
from torch.utils.benchmark import Timer

from grader.sandbox.launch import Sandbox, connect_zygote
from grader.speed import timing_device
from grader.speed.timed_worker import Task
from grader.speed.worker_bench import WorkerBench, choose_task
from torchkata.course import course
from torchkata.inside.speed.layout import bytes_needed, lay_out
from torchkata.inside.speed.sizes import Kind
from torchkata.speed.bench import DEMANDS, Baseline

WORKLOAD = "linear_forward"
TURNS = 15
AIM = 0.03


def measure_turns(kind: Kind, sandbox: Sandbox, turns: int = TURNS) -> Iterator[dict[str, float]]:
    """Time the baseline's matmul with the grader, and the same matmul in this process with each of the other clocks.

    Yield, for each turn, the ratios of the rate measured by the grader to the rates measured by the other clocks.
    """
    machine = timing_device.open_machine(kind, connect_zygote(sandbox), connect_zygote(sandbox))
    bench = WorkerBench(machine, choose_task(machine, course().workloads[WORKLOAD]))
    clocks = dict(create_clocks(bench.task))
    try:
        bench.start_baseline()
        baseline = Baseline(bench)
        baseline.warm_up(DEMANDS[kind].warm_up_seconds)
        for _ in range(turns):
            before = baseline.run()
            others = {name: baseline.amount / clock() for name, clock in clocks.items()}
            ours = (before + baseline.run()) / 2
            yield {name: ours / rate for name, rate in others.items()}
    finally:
        bench.close()


def create_clocks(task: Task) -> Iterator[tuple[str, Callable[[], float]]]:
    """Yield the other clocks. Each one times a block of calls in this process, on the worker's core or device."""
    chosen = task.work.fields(task.size, task.calls)
    if task.kind == "cpu":
        torch.set_num_threads(1)
        os.sched_setaffinity(0, {timing_device.plan_workers().core or 0})
    size = bytes_needed(chosen)
    pages = mmap.mmap(-1, size)  # small ones, like those of the memory shared with a worker
    shared = torch.frombuffer(pages, dtype=torch.uint8)
    memory = shared if task.kind == "cpu" else torch.empty(size, dtype=torch.uint8, device=task.kind)
    tensors = lay_out(chosen, memory, memory)
    for name in ("x", "weight"):
        tensors[name].uniform_(-1, 1)
    run = task.work.baseline(task.size, tensors, task.kind)
    wall = Timer("run()", globals={"run": run})
    wall.timeit(2)  # warm-up
    if task.kind == "cpu":
        processor = Timer("run()", globals={"run": run}, timer=time.process_time)
        yield "torch.utils.benchmark, processor time", lambda: processor.timeit(1).median
    yield "torch.utils.benchmark, wall time", lambda: wall.timeit(1).median
    if task.kind == "cuda":
        yield "CUDA events", lambda: time_with_events(run)


def time_with_events(run: Callable[[], object]) -> float:
    """Return the duration of a call of `run` in seconds, measured with CUDA events."""
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    began.record()
    run()
    ended.record()
    ended.synchronize()
    return float(began.elapsed_time(ended)) / 1e3
