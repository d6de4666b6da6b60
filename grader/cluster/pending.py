"""Finds the submissions that the cluster still has to grade, based on the stored results."""

from dataclasses import dataclass, field
from pathlib import Path

from grader.cluster.options import Phase
from grader.pipeline.queue import Queue
from grader.results import result
from grader.results.dependencies import digest_submission
from grader.results.result import Result
from torchkata.course import course

READERS = 16  # because a shared file system may take long for each operation


@dataclass
class Pending:
    """The submissions that still have to be graded. `update` removes those that have a result."""

    queue: Queue
    since_ns: int
    paths: dict[str, Path]
    tests: dict[str, str]  # digests of submissions with pending tests
    speed: set[str]
    inconclusive: set[str] = field(default_factory=set)
    began_ns: int = 0  # results with a waived test from before this time are graded again; 0: all of them
    seen: dict[str, int] = field(default_factory=dict)  # modification times of the results that have been read

    @property
    def left(self) -> list[str]:
        """The ids of submissions without a complete result, in their original order."""
        return [name for name in self.paths if name in self.tests or name in self.speed]

    def select_paths(self, phase: Phase) -> dict[str, Path]:
        """Return the paths of the submissions that one kind of task still has to grade, keyed by id."""
        waiting = self.tests if phase == "tests" else self.speed
        return {name: path for name, path in self.paths.items() if name in waiting}

    def update(self) -> None:
        """Read the results that were written since the last update.

        Listing the directory is much faster than looking for each missing result on a shared file system, and such a
        file system may remember for a while that a file was missing.
        """
        out = self.queue.options.out
        try:
            found = {path.name for path in out.iterdir()}
        except OSError:
            return
        for name in filter(found.__contains__, self.left):
            path = out / name / "result.json"
            try:
                written = path.stat().st_mtime_ns
            except OSError:
                continue
            if self.seen.get(name) != written:
                self.seen[name] = written
                self.update_one(name, result.load(path))

    def update_one(self, name: str, stored: Result | None) -> None:
        """Remove a submission if its stored result is complete."""
        self.inconclusive.discard(name)
        if stored is None or stored.unreadable or self.seen[name] < self.since_ns:
            return
        is_new = 0 < self.began_ns <= self.seen[name]
        if name in self.tests and self.queue.is_current(stored, self.tests[name], is_new=is_new):
            if stored.conclusive:
                self.tests.pop(name, None)
            else:
                self.inconclusive.add(name)
        kind = self.queue.options.device
        if name in self.speed and name not in self.tests and kind != "none":
            if stored.is_timed(kind):
                self.speed.discard(name)
            elif stored.performance:
                self.inconclusive.add(name)


def find_pending(queue: Queue, since_ns: int) -> Pending:
    """Return the submissions with pending tests or speed measurements.

    Raises CallError if the results directory can't be written to or no submission can be read.
    """
    paths = {entry.id: entry.path for entry in queue.entries}
    tests = {job.submission.id: digest_submission(job.submission.judged) for job in queue.to_grade(READERS)}
    speed, kind = set[str](), queue.options.device
    if kind != "none" and course().timed_with(kata.name for kata in queue.katas):
        stored = {name: result.load(queue.options.out / name / "result.json") for name in queue.reused}
        speed = {*tests, *(name for name, graded in stored.items() if graded is not None and not graded.is_timed(kind))}
    found = {name: path for name, path in paths.items() if name in tests or name in speed}
    return Pending(queue, since_ns, found, tests, speed)
