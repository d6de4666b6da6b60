"""The progress bar of grading: submissions, and the tests that have ended."""

from collections import Counter

from rich.console import Console

from grader.base.progress import ProgressBar
from grader.pipeline.session import Event, Job, TestRan


def tests_of(job: Job) -> int:
    """How many tests a job asks for."""
    return sum(len(kata.points) for kata in job.katas)


class Progress(ProgressBar):
    """How much of all jobs and tests is done."""

    def __init__(self, out: Console, what: str, items: str, jobs: int, tests: int) -> None:
        super().__init__(out, tests, "tests")
        self.words = f"{what} {{}}/{{}} {items}"
        self.expect(jobs, tests)
        self.ended_jobs = self.ended_tests = 0
        self.running: Counter[int] = Counter()

    def take(self, event: Event) -> None:
        """A test has ended, or a job, with or without all of its tests."""
        if isinstance(event, TestRan):
            self.running[id(event.job)] += 1
        else:
            self.running.pop(id(event.job), None)
            self.ended_jobs += 1
            self.ended_tests += tests_of(event.job)
        completed = self.ended_tests + self.running.total()
        self.draw(self.words.format(self.ended_jobs, self.jobs), total=self.tests, completed=completed)

    def expect(self, jobs: int, tests: int) -> None:
        """There are only so many: what is not graded must not make the rest look fast."""
        self.jobs, self.tests = jobs, tests
