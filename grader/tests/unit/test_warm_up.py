"""A device works for some time before it is timed, and for one block where it has hardly stood still."""

from types import SimpleNamespace
from typing import Any

import pytest

from grader.speed import machine as machines
from grader.speed import rates
from grader.speed.machine import WARM_SECONDS, Machine
from grader.speed.timed_worker import Task
from torchkata.course import course
from torchkata.speed.decision import OPENING_BLOCKS, Final
from torchkata.speed.workload import work_of

WORKLOAD = course().workloads["linear_forward"]
TASK = Task(WORKLOAD.name, "cuda", work_of(WORKLOAD.name).sizes["cuda"], calls=1)
BLOCK = 0.25


class Clocked:
    """Stands for a `TimedWorker`: a block takes BLOCK, and the student's worker notes when it begins."""

    check = SimpleNamespace(floor=0.0)
    now = 0.0
    student_began = 0.0

    def __init__(self, _control: object, _limits: object, _task: object, files: object, *_: object) -> None:
        if files is not None:
            Clocked.student_began = Clocked.now

    def block(self, _seconds: float) -> Any:
        Clocked.now += BLOCK
        return SimpleNamespace(seconds=BLOCK, error=0.0)

    def close(self) -> None:
        pass


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A GPU that stands for itself, and has just been switched on."""
    clock = SimpleNamespace(monotonic=lambda: Clocked.now)
    monkeypatch.setattr(machines, "time", clock)
    monkeypatch.setattr(rates, "time", clock)
    monkeypatch.setattr(rates, "TimedWorker", Clocked)
    nothing: Any = None
    return Machine("cuda", "simulated", None, 0, course().limits, nothing, nothing, lambda: "")


def seconds_before_the_student(machine: Machine, attempt: int = 1) -> float:
    """For how long the baseline works alone."""
    began = Clocked.now
    verdict, _ = rates.one_attempt(machine, WORKLOAD, TASK, {}, attempt)
    assert isinstance(verdict, Final)
    return Clocked.student_began - began


def test_a_device_is_warmed_up_once_and_again_when_it_has_stood_still_or_was_not_fit(machine: Machine) -> None:
    opening = OPENING_BLOCKS * BLOCK
    whole = machine.demands.warm_up_seconds
    assert seconds_before_the_student(machine) >= whole + opening
    assert seconds_before_the_student(machine) == BLOCK + opening
    assert seconds_before_the_student(machine, attempt=2) >= whole + opening
    Clocked.now += WARM_SECONDS
    assert seconds_before_the_student(machine) >= whole + opening
