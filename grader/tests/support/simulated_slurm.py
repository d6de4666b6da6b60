"""Simulates a Slurm cluster with its own clock, on which the real code plans, submits and watches a whole class."""

import heapq
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import msgspec
from rich.console import Console

from grader.cluster import grading, slurm
from grader.cluster.options import parse
from grader.cluster.pending import Pending
from grader.cluster.plan import Plan
from grader.cluster.slurm import Array, Job
from grader.pipeline.executor import RunOutcome
from grader.pipeline.queue import Options, Queue
from grader.pipeline.submission_ids import Entry
from grader.results.result import Result

NODE = "node1"
SETTLE_SECONDS = 2.0  # between the end of a task and the start of the next one
FINGERPRINT = "simulated"


@dataclass
class Task:
    """A task of an array."""

    id: str
    chunk: list[str]  # the submissions that it has to grade
    state: str = "PENDING"
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The number of seconds for which the task has occupied a slot."""
        return sum(self.ends) - sum(self.starts)


class SimulatedSlurm:
    """A cluster. `faults` maps the index of a task in the first array to the fault that occurs halfway through it.

    A killed task fails. The task of a lost node is requeued.
    """

    def __init__(
        self,
        out: Path,
        seconds: Mapping[str, float],
        startup: float,
        faults: Mapping[int, Literal["killed", "lost"]],
        limit: int,
    ) -> None:
        self.out = out
        self.seconds = seconds
        self.startup = startup
        self.faults = dict(faults)
        self.limit = limit
        self.now = 0.0
        self.arrays: list[list[Task]] = []
        self.events: list[tuple[float, int, Iterator[float]]] = []  # when to continue which task
        self.graded: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    @property
    def tasks(self) -> list[Task]:
        """The tasks of all arrays."""
        return [task for array in self.arrays for task in array]

    def submit(self, array: Array) -> str:
        """Queue the tasks of an array, as sbatch does."""
        self.calls["sbatch"] += 1
        plan = msgspec.json.decode(array.plan.read_bytes(), type=Plan)
        assert len(plan.chunks) == array.tasks <= self.limit
        number = len(self.arrays) + 1
        tasks = [Task(f"{number}_{index}", [*chunk]) for index, chunk in enumerate(plan.chunks)]
        self.arrays.append(tasks)
        waiting = iter(tasks)
        for slot in range(min(array.at_once, len(tasks))):
            self.schedule(self.now, slot, self.use_slot(waiting, tasks))
        return str(number)

    def schedule(self, when: float, slot: int, work: Iterator[float]) -> None:
        """Continue the work of a slot at a later time."""
        heapq.heappush(self.events, (when, 1000 * slot + len(self.arrays), work))

    def use_slot(self, waiting: Iterator[Task], array: Sequence[Task]) -> Iterator[float]:
        """Run the waiting tasks one after another, and yield the number of seconds before each event."""
        for task in waiting:
            fault = self.faults.pop(array.index(task), "") if array is self.arrays[0] else ""
            yield from self.run_task(task, len(task.chunk) // 2 if fault else None)
            if fault == "lost":
                task.state = "PENDING"
                yield SETTLE_SECONDS
                yield from self.run_task(task)
            task.state = "FAILED" if fault == "killed" else "COMPLETED"
            yield SETTLE_SECONDS

    def run_task(self, task: Task, until: int | None = None) -> Iterator[float]:
        """Grade the first `until` submissions of a task, by default all. Skip those that have a result."""
        task.state = "RUNNING"
        task.starts.append(self.now)
        yield self.startup
        for name in task.chunk[:until]:
            if not self.graded[name]:
                yield self.seconds[name]
                self.graded[name] += 1
                write_result(self.out, name, self.seconds[name])
        task.ends.append(self.now)

    def list_jobs(self, _name: str) -> dict[str, Job]:
        """List all tasks, as squeue does."""
        self.calls["squeue"] += 1
        return {task.id: Job(task.id, task.state, NODE) for task in self.tasks}

    def sleep(self, seconds: float) -> None:
        """Advance the simulated time, and handle the events until then."""
        until = self.now + seconds
        while self.events and self.events[0][0] <= until:
            self.now, slot, work = heapq.heappop(self.events)
            if (wait := next(work, None)) is not None:
                heapq.heappush(self.events, (self.now + wait, slot, work))
        self.now = until

    def monotonic(self) -> float:
        """Return the time in seconds."""
        return self.now

    def time_ns(self) -> int:
        """Return the time in nanoseconds."""
        return round(1e9 * self.now)


def write_result(out: Path, name: str, seconds: float) -> None:
    """Store a result without katas."""
    made = Result(name, 0.0, 0.0, FINGERPRINT, 0, 100, "bwrap", seconds, {}, [])
    (out / name).mkdir(exist_ok=True)
    (out / name / "result.json").write_bytes(msgspec.json.encode(made))


def count_calls(calls: Counter[str], name: str) -> Callable[..., Any]:
    """Wrap a function of `os` so that its calls are counted."""
    function = getattr(os, name)

    def count(*arguments: Any, **options: Any) -> Any:
        calls[name] += 1
        return function(*arguments, **options)

    return count


@dataclass(frozen=True)
class Simulation:
    """What happened in a simulated run."""

    outcome: RunOutcome
    printed: str
    warnings: list[str]
    slurm: SimulatedSlurm
    calls: Counter[str]  # calls of sbatch, squeue and stat by the process that submits and watches

    @property
    def longest(self) -> float:
        """The number of seconds that the longest task took."""
        return max(task.seconds for task in self.slurm.tasks)

    @property
    def total(self) -> float:
        """The number of seconds until the last task finished."""
        return max(task.ends[-1] for task in self.slurm.tasks)

    def idle(self, jobs: int) -> float:
        """Return the fraction of the slots' total time during which no task was running."""
        return 1 - sum(task.seconds for task in self.slurm.tasks) / (jobs * self.total)


def simulate(
    options: Options,
    seconds: Sequence[float],
    *,
    estimate: float,
    startup: float = 10.0,
    faults: Mapping[int, Literal["killed", "lost"]] = {},
    limit: int = 1001,
) -> Simulation:
    """Grade a class whose submissions take this many seconds. The grader knows only an estimate of their mean."""
    names = [f"student{number:05}" for number in range(len(seconds))]
    entries = [Entry(name, Path("/submissions") / name) for name in names]
    queue = Queue(entries, [], (), options)
    pending = Pending(
        queue, 0, {entry.id: entry.path for entry in entries}, dict.fromkeys(names, FINGERPRINT), speed=set()
    )
    cluster = SimulatedSlurm(options.out, dict(zip(names, seconds, strict=True)), startup, faults, limit)
    printed, warnings = io.StringIO(), list[str]()
    options.out.mkdir()
    with ExitStack() as stack:
        for name in ("submit", "list_jobs"):
            stack.enter_context(patch.object(slurm, name, getattr(cluster, name)))
        stack.enter_context(patch.object(slurm, "read_array_limit", lambda: limit))
        stack.enter_context(patch.object(grading, "time", cluster))
        stack.enter_context(patch.object(grading, "estimate_seconds", lambda *_: estimate))
        stack.enter_context(patch.object(grading, "find_pending", lambda *_: pending))
        stack.enter_context(patch.object(os, "stat", count_calls(cluster.calls, "stat")))
        run = grading.Run(queue, parse(options.slurm), Console(file=printed, width=200), warnings.append)
        outcome = run.grade()
    return Simulation(outcome, printed.getvalue(), warnings, cluster, cluster.calls)
