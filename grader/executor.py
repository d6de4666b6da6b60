"""What grades a class: this machine or a cluster, through one interface."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from rich.console import Console

from grader.course.intake import Intake
from grader.live import LiveReport

Warn: TypeAlias = Callable[[str], None]


@dataclass
class Outcome:
    """What became of the submissions that were to be graded."""

    stored: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)  # through no fault of the student's


# Grades what the intake finds to be graded, and stores each result in the intake's `out`. Raises CallError before
# anything is written, and MachineError.
Executor: TypeAlias = Callable[[Intake, Console, Warn, LiveReport | None], Outcome]
