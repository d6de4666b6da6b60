"""Runs a student's `check` on a program that measures the time of a matmul on simulated machines."""

from types import ModuleType, SimpleNamespace
from typing import Any

from torchkata import typed

from .candidates import call_check, load
from .time_matmul import simulate

SIZE = 4  # number of rows and columns of the matrices


class Candidate:
    """A stand-in for the student's modules that lets the probe `simulate` run a program."""

    def __init__(self, assignment: Any, source: str) -> None:
        self.assignment = assignment
        self.source = source

    @property
    def time_matmul(self) -> ModuleType:
        """The program, loaded as a new module so that it uses the simulated clocks."""
        return load(self.assignment, self.source)

    @time_matmul.deleter
    def time_matmul(self) -> None:
        del self.assignment.time_matmul


@typed("check(run)", isolated=True)
def judge(assignment: Any, kata: str, name: str, source: str, seed: int) -> dict[str, str]:  # noqa: ARG001
    """Call `check` with a function that runs the program, and return its verdict."""
    candidate = Candidate(assignment, source)

    def run(
        seconds: float,
        first: float = 0.0,
        gpu: bool = False,
        busy: float = 0.0,
        clock_set: bool = False,
        slow: int | None = None,
    ) -> SimpleNamespace:
        names = ("first_takes_more", "on_gpu", "busy_seconds", "calendar_is_set", "disturbed")
        options = dict(zip(names, (first, gpu, busy, clock_set, slow), strict=True))
        events: Any = simulate(candidate, SIZE, SIZE, SIZE, seconds, options)
        return SimpleNamespace(
            seconds=events["seconds"],
            matmuls=len(events["products"]),
            timed=sum(product["timed"] for product in events["products"]),
            modified=events["modified"],
        )

    return call_check(getattr(assignment, kata).check, run, seed)


@typed("check(run)", isolated=True, secret=True)
def judge_hidden(assignment: Any, kata: str, name: str, source: str, seed: int) -> str:
    """Return only the verdict about a hidden program."""
    return judge(assignment, kata, name, source, seed)["verdict"]
