"""What grades a class: this machine or a cluster, through one interface."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from rich.console import Console

from grader.pipeline.queue import Queue
from grader.pipeline.session import TestRan
from grader.results.result import Result

Warn: TypeAlias = Callable[[str], None]


class Following(Protocol):
    """Who is told how the grading of a single submission gets on, from its first test to its result."""

    def begin(self, blank: Result) -> None:
        """It begins; none of its tests has ended."""

    def add(self, event: TestRan) -> None:
        """One more test has ended."""

    def finish(self, result: Result) -> None:
        """All is graded."""

    def refuse(self, why: str) -> None:
        """It can't be graded."""


@dataclass
class RunOutcome:
    """What became of the submissions that were to be graded."""

    stored: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)  # through no fault of the student's
    again: Counter[str] = field(default_factory=Counter)  # katas of submissions of which another was kept
    broken: list[str] = field(default_factory=list)  # tests that fail through the instructor's mistake, and how
    unfit: str = ""  # why this machine could not time any, and what to do


class Executor(ABC):
    """Grades a queue: `Local` on this machine, `Slurm` on a cluster."""

    @abstractmethod
    def grade(self, queue: Queue, out: Console, warn: Warn, live: Following | None) -> RunOutcome:
        """Grade what the queue finds to be graded, and store each result in its `out`.

        Raises CallError before anything is written, and MachineError.
        """
