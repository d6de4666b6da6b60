"""What trusted grading costs over plain pytest, and what a second core brings. Run: python -m benchmarks.grade

All from one run, in one process that has imported everything: the same tests, seed and 100 examples.
"""

import shutil
import statistics
import sys
import time

from benchmarks.timing import table
from grader.certify.zoo import package
from grader.collect import Tests
from grader.session import Graded, Order, grade, grade_submission
from grader.submission import Submission
from grader.worker.launch import Sandbox
from grader.workplace import with_workplace
from kata.catalog import ROOT, catalog
from kata.student import InProcess

REPEATS = 3
COPIES = 4  # submissions, for jobs=2 against jobs=1
SOLUTION, STUBS = "reference/solution", "assignment"
KATAS = tuple(catalog().katas.values())


class HomeHere(InProcess):
    """A student's code in this very process: what plain pytest does, without a worker."""

    def open(self, files: object, patience: float) -> None:
        """Nothing to send, and no limit."""

    def end(self) -> int:
        """Nothing to end."""
        return 0


def order(folder: str, number: int = 0) -> Order:
    """One submission out of a folder of ours."""
    return Order(Submission(f"{folder} {number}", package(ROOT / folder)), KATAS, seed=0)


def wall(orders: list[Order], tests: Tests, sandbox: Sandbox, jobs: int) -> float:
    """Seconds to grade these."""
    began = time.perf_counter()
    ended = [event for event in grade(orders, tests, sandbox, jobs) if isinstance(event, Graded)]
    if any(event.katas is None for event in ended):
        raise RuntimeError("a submission was lost")
    return time.perf_counter() - began


def plain(folder: str, tests: Tests) -> float:
    """Seconds of the same tests on this folder with its code in this process."""
    began = time.perf_counter()
    results = grade_submission(order(folder), tests, HomeHere(ROOT / folder), lambda *_: None)
    if {result.status for result in results} != {"not_started" if folder == STUBS else "done"}:
        raise RuntimeError(f"{folder} is neither untouched nor done")
    return time.perf_counter() - began


def measure(tests: Tests, sandbox: Sandbox) -> None:
    """Interleave the runs, so that a slow minute of the machine slows them all."""
    plain(SOLUTION, tests)  # what is slow the first time only is not what is compared
    here, sandboxed, fixed, one, two = [], [], [], [], []
    for _ in range(REPEATS):
        here.append(plain(SOLUTION, tests))
        sandboxed.append(wall([order(SOLUTION)], tests, sandbox, jobs=1))
        fixed.append(wall([order(STUBS)], tests, sandbox, jobs=1) - plain(STUBS, tests))
        class_ = [order(SOLUTION, number) for number in range(COPIES)]
        one.append(wall(class_, tests, sandbox, jobs=1))
        two.append(wall(class_, tests, sandbox, jobs=2))
    base, full, extra = map(statistics.median, (here, sandboxed, fixed))
    speedup = statistics.median(a / b for a, b in zip(one, two, strict=True))
    tests_run = sum(len(kata.points) for kata in KATAS)
    table(
        [
            (f"isolation: {sandbox.isolation}", "seconds", ""),
            ("the solution, in-process", f"{base:.2f}", "1.0"),
            ("the solution, graded", f"{full:.2f}", f"{full / base:.2f} of in-process (aim ≤ 1.3)"),
            ("fixed cost of a submission", f"{extra:.2f}", f"untouched stubs, {tests_run} fresh workers (aim ≤ 0.3 s)"),
            (f"{COPIES} submissions, one job", f"{statistics.median(one):.2f}", ""),
            (
                f"{COPIES} submissions, two jobs",
                f"{statistics.median(two):.2f}",
                f"{speedup:.2f} times as fast (aim ≥ 1.7)",
            ),
        ]
    )


if __name__ == "__main__":
    if shutil.which("bwrap") is None:
        sys.exit("install bubblewrap first: the cost of full isolation is what this measures")
    with_workplace("bwrap", 100, print, measure)
