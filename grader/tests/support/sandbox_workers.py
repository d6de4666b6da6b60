"""Starts sandboxes whose workers run code from a test as a student's `linear.py`."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import pytest

from grader.sandbox.launch import Sandbox, Timing, launch
from grader.sandbox.runner import WorkerRunner
from tests.probes import linear as probes
from torchkata.course import Limits
from torchkata.seam.student import Student

Ask: TypeAlias = Callable[..., Any]

AS_OTHER_USER = ["unshare", "--user", "--map-user=54321", "--map-group=54321"]  # a user who owns no files
LEVELS: tuple[Literal["bwrap", "none"], ...] = ("bwrap", "none")
LIMITS = Limits(call_seconds=3.0, test_seconds=5.0, kata_seconds=60.0, memory_mib=512)


def start_sandbox(request: pytest.FixtureRequest, limits: Limits, timing: Timing | None = None) -> Iterator[Sandbox]:
    """Yield a sandbox with the isolation level given by the fixture's parameter."""
    if request.param == "bwrap":
        request.getfixturevalue("needs_bwrap")
    started = launch(request.param, limits, timing or Timing(arena_bytes=0))
    started.wait_until_ready()
    yield started
    started.close()


def open_worker(sandbox: Sandbox, limits: Limits = LIMITS) -> Iterator[Ask]:
    """Yield a function that runs code in `Linear.__init__` and returns what the code assigns to `answer`."""
    runner = WorkerRunner(sandbox.clone(), limits)
    student = Student(runner)

    def ask(body: str, before: str = "") -> Any:
        lines = "\n        ".join(body.splitlines())
        source = f"import os, torch\n{before}\nclass Linear(torch.nn.Module):\n    def __init__(self, i, o):\n"
        source += f"        super().__init__()\n        answer = None\n        {lines}\n        self.weight = answer\n"
        runner.open({"linear.py": source.encode()}, 1.0)
        student.reset("linear")
        return student.call(probes.initial_weights, 1, 1, 1, 0)[0]

    yield ask
    runner.end()
    runner.control.close()
