"""The submissions that the cluster is to grade, and what is stored of them by now: results alone say what is done."""

from dataclasses import dataclass, field
from pathlib import Path

from grader.cluster.options import Phase
from grader.pipeline.queue import Queue
from grader.results import result
from grader.results.result import Result
from torchkata.course import course


@dataclass
class Pending:
    """What has to be graded yet; `look` strikes off what has been. An id is the name of a submission."""

    queue: Queue
    since_ns: int
    paths: dict[str, Path]
    tests: dict[str, str]  # the fingerprint of each whose tests have to run
    speed: set[str]
    inconclusive: set[str] = field(default_factory=set)
    seen: dict[str, int] = field(default_factory=dict)  # when each result was written that has been read

    @property
    def left(self) -> list[str]:
        """Those that are not graded, in the order of the call."""
        return [name for name in self.paths if name in self.tests or name in self.speed]

    def of(self, phase: Phase) -> list[Path]:
        """The submissions that wait for one kind of tasks."""
        waiting = self.tests if phase == "tests" else self.speed
        return [path for name, path in self.paths.items() if name in waiting]

    def look(self) -> None:
        """Read the results that have been written since the last look."""
        for name in self.left:
            path = self.queue.options.out / name / "result.json"
            try:
                written = path.stat().st_mtime_ns
            except OSError:
                continue
            if self.seen.get(name) != written:
                self.seen[name] = written
                self.take(name, result.load(path))

    def take(self, name: str, stored: Result | None) -> None:
        """A result as it is now."""
        self.inconclusive.discard(name)
        if stored is None or stored.unreadable or self.seen[name] < self.since_ns:
            return
        if stored.fingerprint == self.tests.get(name, stored.fingerprint):
            if stored.conclusive:
                self.tests.pop(name, None)
            else:
                self.inconclusive.add(name)
        kind = self.queue.options.grading.device
        if name in self.speed and name not in self.tests and kind != "none":
            if stored.is_timed(kind):
                self.speed.discard(name)
            elif stored.performance:
                self.inconclusive.add(name)


def pending(queue: Queue, since_ns: int) -> Pending:
    """What the queue finds to be graded, tests and speed. Raises CallError."""
    paths = {entry.id: entry.path for entry in queue.entries}
    tests = {job.submission.id: queue.prints[job.submission.id] for job in queue.to_grade()}
    speed = set(tests) | set(untimed(queue))
    if queue.options.grading.device == "none" or not course().timed_with(kata.name for kata in queue.katas):
        speed = set()
    found = {name: path for name, path in paths.items() if name in tests or name in speed}
    return Pending(queue, since_ns, found, tests, speed)


def untimed(queue: Queue) -> list[str]:
    """Those whose tests have run, and whose speed is not known."""
    kind = queue.options.grading.device
    if kind == "none":
        return []
    stored = {name: result.load(queue.options.out / name / "result.json") for name in queue.reused}
    return [name for name, found in stored.items() if found is not None and not found.is_timed(kind)]
