"""The interface of executors, which grade a class on this machine or on a cluster."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from rich.console import Console

from grader.pipeline.job import FinishedTest
from grader.pipeline.queue import Queue
from grader.results.result import Result

Warn: TypeAlias = Callable[[str], None]


class ProgressListener(Protocol):
    """Receives events while a single submission is being graded."""

    def begin(self, blank: Result) -> None:
        """Handle the start of the run, before any test has finished."""

    def add(self, event: FinishedTest) -> None:
        """Handle a finished test."""

    def refuse(self, why: str) -> None:
        """Handle a submission that can't be graded."""


@dataclass
class RunOutcome:
    """The outcome of grading all submissions in a queue."""

    stored: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)  # submissions with an inconclusive result, not the student's fault
    again: Counter[str] = field(default_factory=Counter)  # for each kata, the number of submissions that were regraded
    broken: list[str] = field(default_factory=list)  # tests with a mistake of the instructor, with their tracebacks
    unfit: str = ""  # the reason why this machine could not measure speed, and how to fix it


# Grades the pending submissions in a queue, and stores the results in its `out` directory. Raises CallError (before
# anything is written) if the options or submissions can't be used, or MachineError if grading isn't possible here.
Executor: TypeAlias = Callable[[Queue, Console, Warn], RunOutcome]
