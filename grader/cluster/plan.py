"""What the tasks of an array are told, and how many submissions each of them gets."""

import math
import statistics
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec

from grader.cluster.options import Phase
from grader.pipeline.queue import Options
from grader.results import result
from grader.results.stored import stored_in
from grader.sandbox.launch import Isolation
from torchkata.course import Kata, course

TEST_SECONDS = 0.13  # a test of a right solution at 100 examples (docs/evidence/measured.md)
LEAST_SHARE = 0.25  # of it, however few the examples
WORKLOAD_SECONDS = 25.0
TASK_SECONDS = 300.0  # that a task should last: long beside its start, short beside what is lost with it
MOST_TASKS = 1000  # of an array; Slurm's MaxArraySize is 1001 unless set
LOOKED_AT = 100  # stored results that say how long a submission takes


class Plan(msgspec.Struct, frozen=True):
    """An array: each of its tasks grades one chunk of the submissions into `out`."""

    phase: Phase
    course: str  # its folder
    out: str
    seed: int
    examples: int
    isolation: Isolation
    katas: list[str]
    device: Literal["none", "cpu", "cuda"]
    since_ns: int
    keep: Literal["new", "better"]
    chunks: list[list[str]]  # paths of submissions

    def options(self, jobs: int) -> Options:
        """The options that a task grades with."""
        return Options(
            out=Path(self.out),
            jobs=jobs,
            seed=self.seed,
            examples=self.examples,
            isolation=self.isolation,
            katas=tuple(self.katas),
            force=False,  # since_ns says what is graded again, so that a task that starts anew does not begin anew
            quiet=True,
            device=self.device,
            alone=False,
            since_ns=self.since_ns,
            keep=self.keep,
        )


def plan(phase: Phase, paths: Sequence[Path], options: Options, size: int) -> Plan:
    """All of these submissions, at most `size` a task."""
    absolute = [str(path.absolute()) for path in paths]
    return Plan(
        phase=phase,
        course=str(course().root),
        out=str(options.out.absolute()),
        seed=options.seed,
        examples=options.examples,
        isolation=options.isolation,
        katas=list(options.katas),
        device=options.device,
        since_ns=options.since_ns,
        keep=options.keep,
        chunks=[absolute[start : start + size] for start in range(0, len(absolute), size)],
    )


def size_of_chunks(seconds: float, submissions: int, options: Options) -> int:
    """How many submissions of so many seconds a task gets: enough for a while, not more than its share."""
    if options.per_task is not None:
        return options.per_task
    share = math.ceil(submissions / options.jobs)
    return max(1, min(share, round(TASK_SECONDS / seconds)), math.ceil(submissions / MOST_TASKS))


def seconds_each(phase: Phase, katas: Sequence[Kata], options: Options) -> float:
    """How long a submission takes: the median of what is stored, an estimate where nothing is."""
    names = [kata.name for kata in katas]
    measured = []
    for path in islice(stored_in(options.out).values(), LOOKED_AT):
        stored = result.load(path)
        if stored and stored.examples == options.examples and [kata.kata for kata in stored.katas] == names:
            speed = sum(row.seconds for row in stored.performance)
            measured.append(speed if phase == "speed" else stored.seconds - speed)
    measured = [seconds for seconds in measured if seconds > 0]
    if measured:
        return statistics.median(measured)
    if phase == "speed":
        return WORKLOAD_SECONDS * max(1, len(course().timed_with(names)))
    tests = sum(len(kata.points) for kata in katas)
    return TEST_SECONDS * tests * max(LEAST_SHARE, options.examples / 100)
