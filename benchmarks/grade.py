"""What trusted grading costs beside plain pytest, and what a second core brings. Run: python -m benchmarks.grade

All from one run: the same tests, seed and 100 examples. Plain pytest is a process of its own, as a script for grading
would start one for each submission; the grader's process has imported everything, as for all but the first of a class.
"""

import os
import shutil
import statistics
import sys
import time
from pathlib import Path

from benchmarks.timing import seconds, table
from grader.pipeline.collect import Tests
from grader.pipeline.grading import grade_submission
from grader.pipeline.job import Job
from grader.pipeline.session import grade
from grader.pipeline.setup import run_with_tests
from grader.pipeline.submission import Submission
from grader.proof.zoo import package
from grader.sandbox.launch import Sandbox
from torchkata.course import course
from torchkata.pytest_plugin.run_state import get_state
from torchkata.seam.student import InProcess

REPEATS = 3
COPIES = 4  # submissions, for two jobs against one
KATAS = tuple(course().katas.values())


SOLUTION, STUBS = "solution", "stubs"


class HomeHere(InProcess):
    """A student's code in this very process: what plain pytest does, without a worker."""

    def open(self, files: object, patience: float) -> None:
        """Nothing to send, and no limit."""

    def end(self) -> int:
        """Nothing to end."""
        return 0


def job(name: str, number: int = 0) -> Job:
    """A submission: the solution, or untouched stubs."""
    files = course().solutions() if name == SOLUTION else package(course().assignment)
    return Job(Submission(f"{name} {number}", files), KATAS, seed=0)


def wall(queued: list[Job], tests: Tests, sandbox: Sandbox, jobs: int) -> float:
    """Seconds to grade these."""
    began = time.perf_counter()
    for _ in grade(queued, tests, sandbox, jobs):
        pass
    return time.perf_counter() - began


def keep_to(cores: set[int], pid: int) -> None:
    """Let a process, those that it has started, and all that they start, run on these cores alone."""
    os.sched_setaffinity(pid, cores)
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        keep_to(cores, int(child))


def wall_on(cores: set[int], queued: list[Job], tests: Tests, sandbox: Sandbox, jobs: int) -> float:
    """Seconds to grade these where there are no more cores than these."""
    usual = os.sched_getaffinity(0)
    keep_to(cores, os.getpid())
    try:
        return wall(queued, tests, sandbox, jobs)
    finally:
        keep_to(usual, os.getpid())


def stubs_here(tests: Tests) -> float:
    """Seconds of the same tests on untouched stubs in this process, without a worker."""
    began = time.perf_counter()
    results = grade_submission(
        job(STUBS), tests, HomeHere(course().assignment, course().limits.call_seconds), lambda *_: None
    )
    if {result.status for result in results} != {"not_started"}:
        raise RuntimeError("the stubs are not untouched")
    return time.perf_counter() - began


def measure(tests: Tests, sandbox: Sandbox) -> None:
    """Interleave the runs, so that a slow minute of the machine slows them all."""
    inputs = get_state(tests.config).inputs
    cold = wall([job(SOLUTION)], tests, sandbox, jobs=1)  # draws the inputs of all tests
    bare, graded, engine, fixed, one, two, on_one = [], [], [], [], [], [], []
    first, second, *_ = sorted(os.sched_getaffinity(0))
    for _ in range(REPEATS):
        bare.append(seconds("-m", "pytest", "--impl", "solution", "--hypothesis-profile", "grade"))
        graded.append(wall([job(SOLUTION)], tests, sandbox, jobs=1))
        get_state(tests.config).inputs = None
        engine.append(wall([job(SOLUTION)], tests, sandbox, jobs=1))
        get_state(tests.config).inputs = inputs
        fixed.append(wall([job(STUBS)], tests, sandbox, jobs=1) - stubs_here(tests))
        class_ = [job(SOLUTION, number) for number in range(COPIES)]
        on_one.append(wall_on({first}, class_, tests, sandbox, jobs=1))
        one.append(wall_on({first, second}, class_, tests, sandbox, jobs=1))
        two.append(wall_on({first, second}, class_, tests, sandbox, jobs=2))
    base, full, drawing, extra = map(statistics.median, (bare, graded, engine, fixed))
    by_job = statistics.median(a / b for a, b in zip(one, two, strict=True))
    by_core = statistics.median(a / b for a, b in zip(on_one, two, strict=True))
    tests_run = sum(len(kata.points) for kata in KATAS)
    table(
        [
            (f"isolation: {sandbox.isolation}", "seconds", ""),
            ("the solution, plain pytest", f"{base:.2f}", "1.0"),
            ("the solution, graded", f"{full:.2f}", f"{full / base:.2f} of plain pytest (aim ≤ 0.5)"),
            ("the same with --no-replay", f"{drawing:.2f}", f"{drawing / base:.2f}"),
            ("the first of this run", f"{cold:.2f}", f"{cold / base:.2f}, with drawing the inputs"),
            ("fixed cost of a submission", f"{extra:.2f}", f"untouched stubs, {tests_run} fresh workers (aim ≤ 0.3 s)"),
            (f"{COPIES} submissions, one job, one core", f"{statistics.median(on_one):.2f}", ""),
            (f"{COPIES} submissions, one job, two cores", f"{statistics.median(one):.2f}", ""),
            (
                f"{COPIES} submissions, two jobs, two cores",
                f"{statistics.median(two):.2f}",
                f"{by_core:.2f} times as fast as on one core (aim ≥ 1.9), {by_job:.2f} as one job on both",
            ),
        ]
    )


if __name__ == "__main__":
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("this compares one core with two")
    if shutil.which("bwrap") is None:
        sys.exit("install bubblewrap first: the cost of full isolation is what this measures")
    run_with_tests("bwrap", 100, print, measure)
