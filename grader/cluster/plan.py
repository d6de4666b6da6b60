"""Plans an array of Slurm tasks: what each task does, and how many submissions it grades."""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from grader.cluster.options import Phase
from grader.pipeline.queue import GradingOptions, Options
from grader.results import result
from grader.results.load import list_results
from torchkata.course import Kata, course

TEST_SECONDS = 0.13  # seconds per test of a correct solution with 100 examples (docs/evidence/measured.md)
MIN_SHARE = 0.25  # minimum fraction of TEST_SECONDS for a test with few examples
WORKLOAD_SECONDS = 25.0
TASK_SECONDS = 300.0  # target duration of a task: much longer than its startup, but short enough to repeat if it fails
MAX_TASKS = 1000  # maximum number of tasks per array, even if the cluster allows more
SAMPLES = 100  # number of stored results from which the mean is computed


class Plan(msgspec.Struct, frozen=True):
    """A job array. Each task grades one chunk of the submissions and stores the results in `out`."""

    phase: Phase
    course: str  # the folder of the course
    out: str
    grading: GradingOptions
    since_ns: int
    chunks: list[dict[str, str]]  # paths of submissions, by id

    def options(self, jobs: int) -> Options:
        """Return the options for a task. `since_ns` allows a requeued task to skip submissions that it has finished."""
        return Options(self.grading, Path(self.out), jobs=jobs, quiet=True, alone=False, since_ns=self.since_ns)


def create_plan(phase: Phase, paths: Mapping[str, Path], options: Options, size: int) -> Plan:
    """Divide these submissions into chunks with at most `size` submissions each."""
    absolute = [(id, str(path.absolute())) for id, path in paths.items()]
    return Plan(
        phase=phase,
        course=str(course().root),
        out=str(options.out.absolute()),
        grading=options.grading,
        since_ns=options.since_ns,
        chunks=[dict(absolute[start : start + size]) for start in range(0, len(absolute), size)],
    )


def compute_chunk_size(
    seconds: float, submissions: int, jobs: int, array_limit: int = MAX_TASKS, per_task: int | None = None
) -> int:
    """Return the number of submissions per task, so that an array has at most `array_limit` tasks.

    Without `per_task`, a task takes about five minutes, and the number of tasks is a multiple of the number of tasks
    that run at the same time, so that all of them finish at about the same time.
    """
    if per_task is not None:
        return max(per_task, math.ceil(submissions / array_limit))
    most = min(MAX_TASKS, array_limit)
    waves = max(1, min(round(submissions * seconds / TASK_SECONDS / jobs), most // jobs))
    return math.ceil(submissions / min(waves * jobs, most))


def estimate_seconds(phase: Phase, katas: Sequence[Kata], options: Options) -> float:
    """Return the seconds per submission: the mean of stored results, or an estimate if there are none."""
    names = [kata.name for kata in katas]
    measured = []
    paths = list(list_results(options.out).values())
    for path in paths[:: math.ceil(len(paths) / SAMPLES) or 1]:
        stored = result.load(path)
        if stored and stored.examples == options.grading.examples and [kata.kata for kata in stored.katas] == names:
            speed = sum(row.seconds for row in stored.performance)
            measured.append(speed if phase == "speed" else stored.seconds - speed)
    measured = [seconds for seconds in measured if seconds > 0]
    if measured:
        return statistics.mean(measured)
    if phase == "speed":
        return WORKLOAD_SECONDS * max(1, len(course().timed_with(names)))
    tests = sum(len(kata.points) for kata in katas)
    return TEST_SECONDS * tests * max(MIN_SHARE, options.grading.examples / 100)
