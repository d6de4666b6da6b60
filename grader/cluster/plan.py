"""Plans an array of Slurm tasks: what each task does, and how many submissions it grades."""

import contextlib
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.cluster.options import Phase
from grader.options import GradeOptions
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
    """A job array. Each task grades one chunk of the submissions with the options of the command.

    `options.since_ns` allows a requeued task to skip submissions that it has finished.
    """

    phase: Phase
    course: Path
    options: GradeOptions
    chunks: list[dict[str, Path]]  # paths of submissions, by id

    def encode(self) -> bytes:
        """Return the plan as JSON."""
        return msgspec.json.encode(self, enc_hook=str)  # for paths


def create_plan(phase: Phase, paths: Mapping[str, Path], options: GradeOptions, size: int) -> Plan:
    """Divide these submissions into chunks with at most `size` submissions each."""
    absolute = [(id, path.absolute()) for id, path in paths.items()]
    chunks = [dict(absolute[start : start + size]) for start in range(0, len(absolute), size)]
    return Plan(phase, course().root, replace(options, out=options.out.absolute(), again=False), chunks)


def read_plan(path: Path) -> Plan:
    """Read the plan of a job array. Raises CallError if it was written by a version that has other options."""
    content = path.read_bytes()
    with contextlib.suppress(msgspec.MsgspecError):
        plan = msgspec.json.decode(content, type=Plan, dec_hook=lambda kind, text: kind(text))
        if plan.encode() == content:
            return plan
    raise CallError(f"{path}: was written by another version of the grader; cancel its jobs and run the command again")


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


def estimate_seconds(phase: Phase, katas: Sequence[Kata], options: GradeOptions) -> float:
    """Return the seconds per submission: the mean of stored results, or an estimate if there are none."""
    names = [kata.name for kata in katas]
    measured = []
    paths = list(list_results(options.out).values())
    for path in paths[:: math.ceil(len(paths) / SAMPLES) or 1]:
        stored = result.load(path)
        if stored and stored.examples == options.examples and [kata.kata for kata in stored.katas] == names:
            speed = sum(row.seconds for row in stored.performance)
            measured.append(speed if phase == "speed" else stored.seconds - speed)
    measured = [seconds for seconds in measured if seconds > 0]
    if measured:
        return statistics.mean(measured)
    if phase == "speed":
        return WORKLOAD_SECONDS * max(1, len(course().timed_with(names)))
    tests = sum(len(kata.points) for kata in katas)
    return TEST_SECONDS * tests * max(MIN_SHARE, options.examples / 100)
