"""Simulates a Slurm cluster without processes, on which the real code plans, submits and watches a whole class."""

import io
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias
from unittest.mock import patch

import msgspec
from rich.console import Console

from grader.cluster import rounds, slurm
from grader.cluster.options import parse
from grader.cluster.pending import Pending
from grader.cluster.plan import read_plan
from grader.cluster.slurm import Array, ListedTask
from grader.options import GradeOptions
from grader.pipeline.executor import RunOutcome
from grader.pipeline.queue import Queue
from grader.pipeline.submission_ids import Entry
from grader.results.result import Result

Faults: TypeAlias = Mapping[str, Literal["FAILED", "PENDING"]]
HAND_IN = "simulated"


@dataclass
class Task:
    """A task of an array."""

    id: str
    chunk: list[str]  # the submissions that it has to grade
    state: str = "PENDING"


@dataclass
class SimulatedSlurm:
    """A cluster on which running tasks end whenever the grader sleeps.

    `faults` maps the id of a task to its state after it has graded only half of its submissions: a killed task has
    failed, and the task of a lost node is pending again.
    """

    out: Path
    faults: dict[str, str]
    limit: int
    now: float = 0.0
    arrays: list[list[Task]] = field(default_factory=list)
    graded: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)  # of sbatch, and of stat by the process that submits

    @property
    def tasks(self) -> list[Task]:
        """The tasks of all arrays."""
        return [task for array in self.arrays for task in array]

    def submit(self, array: Array) -> str:
        """Queue the tasks of an array, as sbatch does."""
        self.calls["sbatch"] += 1
        plan = read_plan(array.plan)
        assert len(plan.chunks) == array.tasks <= self.limit
        number = len(self.arrays) + 1
        self.arrays.append([Task(f"{number}_{index}", [*chunk]) for index, chunk in enumerate(plan.chunks)])
        self.at_once = array.at_once
        return str(number)

    def list_jobs(self, _name: str) -> dict[str, ListedTask]:
        """List all tasks, as squeue does."""
        return {task.id: ListedTask(task.id, task.state, "node1") for task in self.tasks}

    def sleep(self, seconds: float) -> None:
        """End the running tasks, and start as many pending ones as may run at once."""
        self.now += seconds
        for task in self.tasks:
            if task.state == "RUNNING":
                self.grade(task)
        for task in [task for task in self.tasks if task.state == "PENDING"][: self.at_once]:
            task.state = "RUNNING"

    def grade(self, task: Task) -> None:
        """Grade the submissions of a task that have no result. A faulty task grades only half of them."""
        fault = self.faults.pop(task.id, "")
        for name in task.chunk[: len(task.chunk) // 2] if fault else task.chunk:
            if not self.graded[name]:
                self.graded[name] += 1
                made = Result(name, 0.0, 0.0, 0, 100, "bwrap", 1.0, {}, [], hand_in=HAND_IN)
                (self.out / name).mkdir(exist_ok=True)
                (self.out / name / "result.json").write_bytes(msgspec.json.encode(made))
        task.state = fault or "COMPLETED"


@dataclass(frozen=True)
class Simulation:
    """What happened in a simulated run."""

    outcome: RunOutcome
    warnings: list[str]
    slurm: SimulatedSlurm


def simulate(
    options: GradeOptions, submissions: int, *, estimate: float, faults: Faults | None = None, limit: int = 1001
) -> Simulation:
    """Grade a class of this size, of which the grader expects that each submission takes `estimate` seconds."""
    names = [f"student{number:05}" for number in range(submissions)]
    entries = [Entry(name, Path("/submissions") / name) for name in names]
    queue = Queue(entries, [], (), options)
    pending = Pending(queue, 0, {entry.id: entry.path for entry in entries}, dict.fromkeys(names, HAND_IN), speed=set())
    cluster, stat = SimulatedSlurm(options.out, dict(faults or {}), limit), os.stat

    def count_stat(*arguments: Any, **given: Any) -> os.stat_result:
        cluster.calls["stat"] += 1
        return stat(*arguments, **given)

    clock = SimpleNamespace(
        sleep=cluster.sleep, monotonic=lambda: cluster.now, time_ns=lambda: round(1e9 * cluster.now)
    )
    warnings = list[str]()
    options.out.mkdir()
    with ExitStack() as stack:
        for name in ("submit", "list_jobs"):
            stack.enter_context(patch.object(slurm, name, getattr(cluster, name)))
        stack.enter_context(patch.object(slurm, "read_array_limit", lambda: limit))
        stack.enter_context(patch.object(rounds, "time", clock))
        stack.enter_context(patch.object(rounds, "estimate_seconds", lambda *_: estimate))
        stack.enter_context(patch.object(rounds, "find_pending", lambda *_: pending))
        stack.enter_context(patch.object(os, "stat", count_stat))
        run = rounds.ClusterRun(queue, parse(options.slurm), Console(file=io.StringIO(), width=200), warnings.append)
        return Simulation(run.grade(), warnings, cluster)
