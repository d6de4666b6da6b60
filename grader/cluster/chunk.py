"""Grades a chunk of a class in a task of a job array, skipping submissions that already have a result.

`task.py` runs this module as: python -m grader.cluster.chunk PLAN INDEX PARENT
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.base.errors import CallError, MachineError
from grader.base.files import write_whole
from grader.base.signals import end_with_parent
from grader.base.terminal import create_console
from grader.base.text import printable
from grader.cluster.options import Phase
from grader.cluster.plan import read_plan
from grader.options import GradeOptions
from grader.pipeline.queue import Queue
from grader.pipeline.run import grade_tests
from grader.pipeline.selection import choose
from grader.pipeline.submission_ids import Entry
from grader.results.dependencies import digest
from grader.results.result import Result, load
from torchkata.course import CourseError, use

UNFIT = "unfit"  # folder next to the plan, with a file for each node that can't grade, which contains the reason
BROKEN = "broken"  # folder next to the plan, with a text for the instructor about each broken test


def main() -> int:
    """Grade a chunk of a plan and return the exit code. If this node can't grade, write the reason to a file."""
    path, index, parent = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    end_with_parent(parent)
    try:
        plan = read_plan(path)
    except CallError as error:
        warn(str(error))
        return 2
    use(plan.course)
    entries = [Entry(id, path) for id, path in plan.chunks[index].items()]
    cores = int(os.environ.get("SLURM_CPUS_PER_TASK", "1")) if plan.phase == "tests" else 1  # speed: one at a time
    broken: list[str] = []
    unfit = grade_chunk(plan.phase, entries, replace(plan.options, jobs=cores), broken)
    for problem in broken:  # all tasks draw the same inputs, so a broken test gives the same text in each
        write_whole(path.parent / BROKEN / digest(problem), problem.encode("utf-8", "replace"))
    if unfit:
        write_whole(path.parent / UNFIT / os.environ.get("SLURMD_NODENAME", os.uname().nodename), unfit.encode())
        warn(unfit)
    return 3 if unfit else 0


def grade_chunk(phase: Phase, entries: Sequence[Entry], options: GradeOptions, broken: list[str]) -> str:
    """Grade the pending submissions in a chunk. Return the reason if this node can't grade, otherwise "".

    A text for the instructor about each broken test is added to `broken`.
    """
    queue = Queue(entries, [], choose(options.katas), options)
    quiet = create_console(quiet=True)
    try:
        if phase == "tests":
            broken += grade_tests(queue, quiet, warn).broken
            return ""
        for _ in queue.to_grade():
            pass  # fills `reused` with the submissions that have test results; only these can be timed
        from grader.pipeline.speed import grade_speeds

        assert options.device != "none"
        unsure, unfit = grade_speeds(options.device, queue, queue.reused, quiet, warn)
        if unfit:
            return unfit
        return next(filter(None, (find_untimed_reason(options.out / name / "result.json") for name in unsure)), "")
    except CallError as error:  # no submission can be read; the process that submitted the job reports this
        warn(str(error))
        return ""
    except (MachineError, CourseError) as error:
        return str(error)


def find_untimed_reason(path: Path) -> str:
    """Return why speed was not graded: the message of the first workload whose points do not count, or ""."""
    stored: Result | None = load(path)
    rows = stored.performance if stored else []
    return next((row.message.partition("\n")[0] for row in rows if not row.counts), "")


def warn(text: str) -> None:
    """Print a message to the log of the task."""
    print(printable(text), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
