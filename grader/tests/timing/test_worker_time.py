"""Tests of the time limits of workers, which exclude time spent waiting for a busy machine."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from grader.sandbox.launch import Sandbox
from grader.tests.support.sandbox_workers import LEVELS, LIMITS, Ask, open_worker, start_sandbox
from torchkata.seam.failures import TimedOut

ON_ONE_CORE = "import os\nos.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\n"


@pytest.fixture(scope="module", params=LEVELS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    yield from start_sandbox(request, LIMITS)


@pytest.fixture
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    yield from open_worker(sandbox)


@pytest.fixture
def busy_core() -> Iterator[None]:
    """Keep one core busy with three processes."""
    others = [subprocess.Popen([sys.executable, "-c", f"{ON_ONE_CORE}while True: pass"]) for _ in range(3)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.usefixtures("busy_core")
def test_time_spent_waiting_for_cpu_is_excluded(ask: Ask) -> None:
    work = "until = time.process_time() + 1.5\nwhile time.process_time() < until: pass\nanswer = torch.ones(1)"
    assert torch.equal(ask(work, before=f"{ON_ONE_CORE}import time"), torch.ones(1)), "1.5 s of work take 6 s"


@pytest.mark.usefixtures("busy_core")
@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(60)"])
def test_computing_or_sleeping_too_long_times_out(ask: Ask, body: str) -> None:
    with pytest.raises(TimedOut, match="your code did not return within 3 seconds"):
        ask(body, before=f"{ON_ONE_CORE}import time")
