"""Times a workload in two workers, one for plain torch and one for the student, with the clock of this process."""

import contextlib
from collections.abc import Mapping
from statistics import median

from grader.speed.machine import Machine
from grader.speed.timed_worker import Task, TimedWorker
from torchkata.course import Workload, course
from torchkata.inside.speed.layout import bytes_needed
from torchkata.inside.speed.sizes import Size
from torchkata.inside.speed.workload import work_of
from torchkata.speed.bench import OPENING_BLOCKS, Baseline, TimedBlock, block_length
from torchkata.speed.memory import fit, most_calls

TRUSTED_SECONDS = 120.0  # time limit of a block of plain torch


class WorkerBench:
    """A `Bench` in two workers. Without the files of a student, it can only time plain torch."""

    def __init__(self, machine: Machine, task: Task, files: Mapping[str, bytes] | None = None) -> None:
        self.machine = machine
        self.task = task
        self.files = files
        self.workload = course().workloads[task.workload]
        self.kind = machine.kind
        self.device = machine.device
        self.size = task.size
        self.calls = task.calls * task.times
        self.patience = 0.0
        self.baseline: TimedWorker | None = None
        self.student: TimedWorker | None = None

    @property
    def worked(self) -> float:
        """When the device worked last after a warm-up."""
        return self.machine.worked

    @worked.setter
    def worked(self, now: float) -> None:
        self.machine.worked = now

    @property
    def floor(self) -> float:
        """The largest relative error that any correct result can have."""
        assert self.student is not None
        return self.student.check.floor

    def start_baseline(self) -> None:
        """Start the worker for plain torch."""
        machine = self.machine
        self.baseline = TimedWorker(machine.baseline, machine.limits, self.task, None, machine.accelerator)

    def start_student(self, patience: float) -> None:
        """Start the worker for the student's code."""
        machine = self.machine
        assert self.files is not None
        self.patience = patience
        self.student = TimedWorker(machine.student, machine.limits, self.task, self.files, machine.accelerator)

    def run_baseline(self) -> TimedBlock:
        """Run a block of plain torch. Raises Inconclusive if it fails."""
        assert self.baseline is not None
        return self.baseline.block(TRUSTED_SECONDS)

    def run_student(self) -> TimedBlock:
        """Run a block of the student's code."""
        assert self.student is not None
        return self.student.block(self.patience)

    def trouble(self) -> str:
        """Return a problem of the device that has occurred since the last call, or ""."""
        return self.machine.trouble()

    def close(self) -> None:
        """End the workers. The one that was started last ends first: each waits until its memory is free again."""
        with contextlib.ExitStack() as ends:
            for worker in filter(None, (self.baseline, self.student)):
                ends.callback(worker.close)
            self.baseline = self.student = None


def choose_task(machine: Machine, workload: Workload) -> Task:
    """Choose the number of calls per block so that a block of the baseline is long enough, as far as memory allows.

    Raises NoRoom if the device has too little memory.
    """
    size, most = choose_size(machine, workload)
    bench = WorkerBench(machine, Task(workload.name, machine.kind, size, min(2, most)))
    try:
        bench.start_baseline()
        baseline = Baseline(bench)
        baseline.warm_up(0.0)
        once = baseline.amount / median(baseline.run() for _ in range(OPENING_BLOCKS)) / bench.calls
    finally:
        bench.close()
    return Task(workload.name, machine.kind, size, *block_length(once, machine.kind, most))


def choose_size(machine: Machine, workload: Workload) -> tuple[Size, int]:
    """Return a size, and how many calls fit into memory. Raises NoRoom if the device has too little memory."""
    work = work_of(workload.name)
    size = work.sizes[machine.kind]
    if machine.kind == "cuda":
        return fit(work, size, machine.room)
    return size, max(1, most_calls(lambda calls: bytes_needed(work.fields(size, calls)), machine.room))
