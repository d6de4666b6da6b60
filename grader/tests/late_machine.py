"""The whole GPU path without a GPU: a sandbox and a machine whose device does everything late (`deferred.py`)."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from grader.sandbox.launch import Gpu, Sandbox, Timing, connect
from grader.speed import figures, rest, setup
from grader.speed.machine import DEMANDS, Machine
from grader.speed.timed_worker import Task, TimedWorker
from grader.tests import deferred
from torchkata.course import Workload, course
from torchkata.seam.failures import Crashed, Died, NotStarted, TimedOut
from torchkata.speed.decision import RULES, Rules
from torchkata.speed.workload import Rate, work_of

ARENA = 2**28
CALLS, BLOCKS, SECONDS = 4, 3, 20.0


def late_timing() -> Timing:
    """For workers that use this device; the sandbox is that of a GPU."""
    return replace(setup.timing(Gpu("GPU-0", 0)), accelerator=Path(deferred.__file__))


@contextmanager
def late_machine(sandbox: Sandbox) -> Iterator[Machine]:
    """The device, with tensors as small and blocks as short as on a CPU, whose cores are not ours alone."""
    with ExitStack() as stack:
        stack.enter_context(patch.dict(DEMANDS, cuda=DEMANDS["cpu"]))
        stack.enter_context(patch.dict(RULES, cuda=Rules(spread=0.4, drift=0.1, attempts=1)))
        stack.enter_context(patch.object(rest, "BUSY", 3.0))
        for workload in course().workloads:
            work = type(work_of(workload))
            stack.enter_context(patch.object(work, "sizes", {**work.sizes, "cuda": work.sizes["cpu"]}))
        device = stack.enter_context(deferred.deferred_device())
        student, baseline = (stack.enter_context(connect(sandbox)) for _ in range(2))
        yield Machine(
            "cuda", "a late device", None, ARENA, setup.limits(), student, baseline, lambda: "", accelerator=device
        )


def outcome_of(machine: Machine, files: Mapping[str, bytes], workload: Workload) -> float | str:
    """Seconds of the fastest of some blocks, or a figure's share; else how it ended."""
    work = work_of(workload.name)
    task = Task(workload.name, machine.kind, work.sizes[machine.kind], CALLS)
    try:
        with closing(TimedWorker(machine.student, machine.limits, task, files, machine.accelerator)) as timed:
            if not isinstance(work, Rate):
                return figures.figure_of(work, machine.kind)(timed).ratio
            blocks = [timed.block(SECONDS) for _ in range(BLOCKS)]
            right = all(block.error <= timed.check.floor for block in blocks)
            return min(block.seconds for block in blocks) if right else "wrong"
    except figures.WrongResult:
        return "wrong"
    except (Crashed, Died, NotStarted, TimedOut) as error:
        return type(error).__name__
