"""The progress bar for grading, which counts finished submissions and tests."""

from collections import Counter

from rich.console import Console

from grader.base.progress import ProgressBar
from grader.pipeline.job import Event, FinishedTest, Job


def count_tests(job: Job) -> int:
    """Return the number of tests in a job."""
    return sum(len(kata.points) for kata in job.katas)


class Progress(ProgressBar):
    """The progress of all jobs and their tests."""

    def __init__(self, out: Console, what: str, items: str, jobs: int, tests: int) -> None:
        super().__init__(out, tests, "tests")
        self.words = f"{what} {{}}/{{}} {items}"
        self.expect(jobs, tests)
        self.ended_jobs = self.ended_tests = 0
        self.running: Counter[int] = Counter()

    def take(self, event: Event) -> None:
        """Count a finished test or job. A job can finish without running all of its tests."""
        if isinstance(event, FinishedTest):
            self.running[id(event.job)] += 1
        else:
            self.running.pop(id(event.job), None)
            self.ended_jobs += 1
            self.ended_tests += count_tests(event.job)
        completed = self.ended_tests + self.running.total()
        self.draw(self.words.format(self.ended_jobs, self.jobs), total=self.tests, completed=completed)

    def expect(self, jobs: int, tests: int) -> None:
        """Set the totals, which decrease when a submission does not need to be graded.

        The estimate of the remaining time therefore stays accurate.
        """
        self.jobs, self.tests = jobs, tests
