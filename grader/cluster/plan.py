"""What the tasks of an array are told, and how many submissions each of them gets."""

import math
import statistics
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec

from grader.cluster.options import Phase
from grader.pipeline.queue import GradingOptions, Options
from grader.results import result
from grader.results.load import list_results
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
    grading: GradingOptions
    since_ns: int
    chunks: list[list[str]]  # paths of submissions

    def options(self, jobs: int) -> Options:
        """Return the options that a task grades with: `since_ns` says what it grades again, however often it starts."""
        return Options(self.grading, Path(self.out), jobs, quiet=True, alone=False, since_ns=self.since_ns)


def plan(phase: Phase, paths: Sequence[Path], options: Options, size: int) -> Plan:
    """All of these submissions, at most `size` a task."""
    absolute = [str(path.absolute()) for path in paths]
    return Plan(
        phase=phase,
        course=str(course().root),
        out=str(options.out.absolute()),
        grading=options.grading,
        since_ns=options.since_ns,
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
    for path in islice(list_results(options.out).values(), LOOKED_AT):
        stored = result.load(path)
        if stored and stored.examples == options.grading.examples and [kata.kata for kata in stored.katas] == names:
            speed = sum(row.seconds for row in stored.performance)
            measured.append(speed if phase == "speed" else stored.seconds - speed)
    measured = [seconds for seconds in measured if seconds > 0]
    if measured:
        return statistics.median(measured)
    if phase == "speed":
        return WORKLOAD_SECONDS * max(1, len(course().timed_with(names)))
    tests = sum(len(kata.points) for kata in katas)
    return TEST_SECONDS * tests * max(LEAST_SHARE, options.grading.examples / 100)
