"""Measure the cost of sandboxed grading relative to plain pytest, and the gain from a second core.

Run: python -m benchmarks.grade

Both runs use the same tests, seed and 100 examples. Plain pytest starts a new process, as a simple grading
script would do for each submission. The grader's process has already imported everything, which is the case for all but
the first submission.
"""

import os
import shutil
import statistics
import sys
import time
from pathlib import Path

from benchmarks.student import print_table, time_command
from grader.pipeline.collect import Tests
from grader.pipeline.grading import grade_submission
from grader.pipeline.job import Job
from grader.pipeline.proven_sandbox import run_with_tests
from grader.pipeline.session import grade
from grader.pipeline.submission import Submission
from grader.proof.zoo import read_package
from grader.sandbox.launch import Sandbox
from torchkata.course import course
from torchkata.pytest_plugin.run_state import get_state
from torchkata.seam.student import InProcess

REPEATS = 3
COPIES = 4  # number of submissions for the comparison of one job with two
KATAS = tuple(course().katas.values())
SOLUTION, STUBS = "solution", "stubs"


class LocalStudent(InProcess):
    """Runs a student's code in this process instead of in a worker."""

    def open(self, files: object, patience: float) -> None:
        """Do nothing, because there are no files to send and there is no time limit."""

    def end(self) -> int:
        """Do nothing."""
        return 0


def make_job(name: str, number: int = 0) -> Job:
    """Return a job that grades the reference solution or the unmodified stubs."""
    files = course().solutions() if name == SOLUTION else read_package(course().assignment)
    return Job(Submission(f"{name} {number}", files), KATAS, seed=0)


def time_grading(queued: list[Job], tests: Tests, sandbox: Sandbox, jobs: int) -> float:
    """Return the number of seconds that it takes to grade the jobs."""
    began = time.perf_counter()
    for _ in grade(queued, tests, sandbox, jobs):
        pass
    return time.perf_counter() - began


def pin_process(cores: set[int], pid: int) -> None:
    """Pin a process and its descendants to the given cores."""
    os.sched_setaffinity(pid, cores)
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        pin_process(cores, int(child))


def time_on_cores(cores: set[int], queued: list[Job], tests: Tests, sandbox: Sandbox, jobs: int) -> float:
    """Return the number of seconds that it takes to grade the jobs on the given cores."""
    usual = os.sched_getaffinity(0)
    pin_process(cores, os.getpid())
    try:
        return time_grading(queued, tests, sandbox, jobs)
    finally:
        pin_process(usual, os.getpid())


def time_stubs_locally(tests: Tests) -> float:
    """Return the number of seconds that it takes to test unmodified stubs in this process, without workers."""
    began = time.perf_counter()
    results = grade_submission(
        make_job(STUBS), tests, LocalStudent(course().assignment, course().limits), lambda *_: None
    )
    if {result.status for result in results} != {"not_started"}:
        raise RuntimeError("assignment/ must contain untouched stubs")
    return time.perf_counter() - began


def measure(tests: Tests, sandbox: Sandbox) -> None:
    """Run the benchmark, interleaving the runs so that changes in machine load affect all of them."""
    inputs = get_state(tests.config).inputs
    cold = time_grading([make_job(SOLUTION)], tests, sandbox, jobs=1)  # this also draws the inputs of all tests
    bare, graded, engine, fixed, one, two, on_one = [], [], [], [], [], [], []
    first, second, *_ = sorted(os.sched_getaffinity(0))
    for _ in range(REPEATS):
        bare.append(time_command("-m", "pytest", "--impl", "solution", "--hypothesis-profile", "grade"))
        graded.append(time_grading([make_job(SOLUTION)], tests, sandbox, jobs=1))
        get_state(tests.config).inputs = None
        engine.append(time_grading([make_job(SOLUTION)], tests, sandbox, jobs=1))
        get_state(tests.config).inputs = inputs
        fixed.append(time_grading([make_job(STUBS)], tests, sandbox, jobs=1) - time_stubs_locally(tests))
        submissions = [make_job(SOLUTION, number) for number in range(COPIES)]
        on_one.append(time_on_cores({first}, submissions, tests, sandbox, jobs=1))
        one.append(time_on_cores({first, second}, submissions, tests, sandbox, jobs=1))
        two.append(time_on_cores({first, second}, submissions, tests, sandbox, jobs=2))
    base, full, drawing, extra = map(statistics.median, (bare, graded, engine, fixed))
    by_job = statistics.median(a / b for a, b in zip(one, two, strict=True))
    by_core = statistics.median(a / b for a, b in zip(on_one, two, strict=True))
    tests_run = sum(len(kata.points) for kata in KATAS)
    print_table(
        [
            (f"isolation: {sandbox.isolation}", "seconds", ""),
            ("the solution, plain pytest", f"{base:.2f}", "1.0"),
            ("the solution, graded", f"{full:.2f}", f"{full / base:.2f} × plain pytest (aim ≤ 0.5)"),
            ("the same with its own inputs", f"{drawing:.2f}", f"{drawing / base:.2f}"),
            ("the first submission", f"{cold:.2f}", f"{cold / base:.2f}, includes drawing the inputs"),
            ("fixed cost per submission", f"{extra:.2f}", f"untouched stubs, {tests_run} new workers (aim ≤ 0.3 s)"),
            (f"{COPIES} submissions, one job, one core", f"{statistics.median(on_one):.2f}", ""),
            (f"{COPIES} submissions, one job, two cores", f"{statistics.median(one):.2f}", ""),
            (
                f"{COPIES} submissions, two jobs, two cores",
                f"{statistics.median(two):.2f}",
                f"{by_core:.2f} × as fast as one core (aim ≥ 1.9), {by_job:.2f} × as fast as one job on both cores",
            ),
        ]
    )


if __name__ == "__main__":
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("benchmarks.grade needs two cores")
    if shutil.which("bwrap") is None:
        sys.exit("benchmarks.grade measures full isolation: install bubblewrap first")

    def run(tests: Tests, sandbox: Sandbox) -> None:
        """Run the benchmark."""
        measure(tests, sandbox)
        get_state(tests.config).results.clear()  # untouched stubs were tested in this process, which is no error

    run_with_tests("bwrap", 100, print, run)
