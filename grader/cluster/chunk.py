"""Grades one chunk of a class, as a task of an array does: the local grader, over what of it has no result yet.

Run by `task.py` on Slurm: python -m grader.cluster.chunk PLAN INDEX PARENT
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from grader.base.errors import CallError, MachineError
from grader.base.signals import end_with_parent
from grader.base.terminal import console
from grader.cluster.options import Phase
from grader.cluster.plan import Plan
from grader.pipeline.queue import Options, Queue
from grader.pipeline.run import grade_tests
from grader.pipeline.selection import choose
from grader.pipeline.submission import identify
from grader.pipeline.submission_ids import Entry
from grader.results.result import Result, load, write_whole
from torchkata.course import CourseError, use

UNFIT = "unfit"  # beside the plan: a file for each node that can't grade, with the reason


def main() -> int:
    """Grade a chunk of a plan, and leave a note where this node turns out to be unfit; the exit code."""
    path, index, parent = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    end_with_parent(parent)
    plan = msgspec.json.decode(path.read_bytes(), type=Plan)
    use(Path(plan.course))
    paths = [Path(submission) for submission in plan.chunks[index]]
    entries = [Entry(identify(submission), submission) for submission in paths]
    unfit = grade_chunk(plan.phase, entries, plan.options(jobs=cores(plan.phase)))
    if unfit:
        write_whole(path.parent / UNFIT / os.environ.get("SLURMD_NODENAME", os.uname().nodename), unfit.encode())
        warn(unfit)
    return 3 if unfit else 0


def cores(phase: Phase) -> int:
    """How many submissions a task grades at a time: as many as it has cores; on a device one."""
    return int(os.environ.get("SLURM_CPUS_PER_TASK", "1")) if phase == "tests" else 1


def grade_chunk(phase: Phase, entries: Sequence[Entry], options: Options) -> str:
    """Grade what is to be graded of these submissions; why this machine can't grade, or nothing if it can."""
    queue = Queue(entries, [], choose(options.grading.katas), options)
    quiet = console(quiet=True)
    try:
        if phase == "tests":
            for problem in grade_tests(queue, quiet, warn).broken:
                warn(problem)
            return ""
        for _ in queue.to_grade():
            pass  # those without a result are the tests' to grade, and stay out of `reused`
        from grader.pipeline.speed import grade_speeds

        assert options.grading.device != "none"
        unsure, unfit = grade_speeds(options.grading.device, queue, queue.reused, quiet, warn)
        if unfit:
            return unfit
        return next(filter(None, (why_not_timed(options.out / name / "result.json") for name in unsure)), "")
    except CallError as error:  # none of them can be read: whoever gave them to us has seen it, too, or will
        warn(str(error))
        return ""
    except (MachineError, CourseError) as error:
        return str(error)


def why_not_timed(path: Path) -> str:
    """What a stored result says of the first workload that does not count; nothing where all do, or none was timed."""
    stored: Result | None = load(path)
    rows = stored.performance if stored else []
    return next((row.message.partition("\n")[0] for row in rows if not row.counts), "")


def warn(text: str) -> None:
    """Into the task's log."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
