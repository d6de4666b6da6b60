"""The grader's clock against torch's own benchmark, and its spread. Run: python -m benchmarks.clock [cpu|cuda]

Both clocks time the same product, turn about. On a busy CPU wall time counts the waiting for a core, too, which the
grader's does not: so the benchmark is asked for wall time and, in a line of its own, for the processor's.
"""

import importlib.util
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import median

import torch
from torch.utils.benchmark import Timer

from benchmarks.timing import table
from grader.pipeline.workplace import with_sandbox
from grader.sandbox.launch import Sandbox, connect
from grader.speed import gpu, setup
from grader.speed.rates import Baseline, sized
from grader.speed.session import Row, SpeedJob, grade_speed
from grader.speed.timed_worker import Task
from torchkata.course import course
from torchkata.speed.layout import bytes_needed, lay_out
from torchkata.speed.sizes import Kind

WORKLOAD = "linear_forward"
TURNS = 15
GRADINGS = 10
AIM = 0.03


@dataclass(frozen=True)
class Turn:
    """Work units a second by each clock, one right after the other."""

    ours: float
    theirs: dict[str, float]


def main() -> None:
    """Measure and print."""
    kind: Kind = "cuda" if sys.argv[1:] == ["cuda"] else "cpu"
    ratios: list[float] = []
    turns: list[Turn] = []

    def use(sandbox: Sandbox) -> None:
        ratios.extend(gradings(kind, sandbox))  # in children, which must find CUDA unused
        turns.extend(measured(kind, sandbox))

    device = gpu.chosen() if kind == "cuda" else None
    if isinstance(device, str):
        sys.exit(device)
    with_sandbox("auto", setup.limits(), setup.timing(device), lambda line: print(line, file=sys.stderr), use)
    rows = [(f"{WORKLOAD} on the {kind}, load {os.getloadavg()[0]:.1f}", "the grader's clock", "")]
    for clock, found in shares(turns).items():
        figure = f"{median(found):.3f} of it  ({min(found):.3f} to {max(found):.3f} in {len(found)} turns)"
        rows.append((clock, figure, f"(aim 1 ± {AIM:g})"))
    low, middle, high = (f(ratios) for f in (min, median, max))
    spread = f"{low:.3f}, {middle:.3f}, {high:.3f}"
    rows.append((f"share of the baseline in {len(ratios)} gradings: least, median, most", spread, ""))
    table(rows)


def shares(turns: Iterable[Turn]) -> dict[str, list[float]]:
    """Ours as a share of each other clock, turn by turn."""
    found: dict[str, list[float]] = {}
    for turn in turns:
        for clock, theirs in turn.theirs.items():
            found.setdefault(clock, []).append(turn.ours / theirs)
    return found


def gradings(kind: Kind, sandbox: Sandbox) -> Iterator[float]:
    """The share of the baseline's rate that the solution reaches, again and again."""
    files = course().solutions()
    job = SpeedJob("solution", files, (), (course().workloads[WORKLOAD],))
    for _ in range(GRADINGS):
        for message in grade_speed(job, kind, sandbox):
            if isinstance(message, Row) and message.row.ratio is not None:
                yield message.row.ratio
            elif isinstance(message, Row):
                print(f"no figure: {message.row.message}", file=sys.stderr)


def measured(kind: Kind, sandbox: Sandbox) -> Iterator[Turn]:
    """The baseline's product by the grader's clock, and the same in this process by others."""
    machine = setup.machine(kind, connect(sandbox), connect(sandbox))
    task = sized(machine, course().workloads[WORKLOAD])
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
        os.sched_setaffinity(0, {setup.timing().core or 0})
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


if __name__ == "__main__":
    main()
