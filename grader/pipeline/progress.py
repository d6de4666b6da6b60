"""The progress bar: submissions, tests, and the time left; on a terminal only, and nothing of it stays."""

from collections import Counter
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from grader.pipeline.session import Event, Job, TestRan


def tests_of(job: Job) -> int:
    """How many tests a job asks for."""
    return sum(len(kata.points) for kata in job.katas)


class Progress:
    """How much of all jobs and tests is done. Drawn at every step: no thread may run while children are forked."""

    def __init__(self, out: Console, what: str, items: str, jobs: int, tests: int) -> None:
        self.jobs = jobs
        self.tests = tests
        self.ended_jobs = self.ended_tests = 0
        self.running: Counter[int] = Counter()
        self.bar = Bar(
            TextColumn(f"{what} {{task.fields[ended]}}/{{task.fields[jobs]}} {items}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("tests"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=out,
            auto_refresh=False,
            transient=True,
            disable=not out.is_terminal,
        )
        self.task = self.bar.add_task("", total=tests, ended=0, jobs=jobs)

    def __enter__(self) -> "Progress":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.bar.stop()

    def take(self, event: Event) -> None:
        """A test has ended, or a job, with or without all of its tests."""
        if isinstance(event, TestRan):
            self.running[id(event.job)] += 1
        else:
            self.running.pop(id(event.job), None)
            self.ended_jobs += 1
            self.ended_tests += tests_of(event.job)
        self.draw()

    def expect(self, jobs: int, tests: int) -> None:
        """There are only so many: what is not graded must not make the rest look fast."""
        self.jobs, self.tests = jobs, tests

    def draw(self) -> None:
        """Bring the bar up to date."""
        completed = self.ended_tests + self.running.total()
        self.bar.update(self.task, total=self.tests, completed=completed, ended=self.ended_jobs, jobs=self.jobs)
        self.bar.refresh()
