"""Runs failing tests in this process and records their calls, for the unit tests of the diagnosis."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from torchkata.diagnosis.recording import record_body
from torchkata.inside.reply import Probe, Reply
from torchkata.inside.values import Plain
from torchkata.seam.failures import TimedOut, Wrong
from torchkata.seam.student import Student


class LocalRunner:
    """A runner that calls probes in this process, without a submission, and times out after `calls` calls."""

    def __init__(self, calls: int = 10**6) -> None:
        self.calls = calls
        self.budget = 0.0

    def reset(self, kata: str) -> None:
        """Do nothing, because there is no submission."""

    start_over = reset

    def renew(self) -> None:
        """Do nothing, because no code is imported."""

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        self.calls -= 1
        if self.calls < 0:
            raise TimedOut("it hangs")
        return Reply("returned", probe(None, *args))

    def set_budget(self, seconds: float) -> None:
        self.budget = seconds


def step_uphill(_assignment: object, p: float, grad: float, lr: float) -> float:
    """Compute a step with the wrong sign."""
    return p + lr * grad


def fail(test: Any, runner: LocalRunner | None = None) -> tuple[Any, Student]:
    """Run a test, assert that it fails, and return its recorded body and its student."""
    student = Student(runner or LocalRunner())
    body = record_body(SimpleNamespace(obj=test))
    body.begin({"student": student})
    with pytest.raises((AssertionError, Wrong)):
        (test if hasattr(test, "hypothesis") else body)(student=student)
    return body, student
