"""Workers: how long a student's code may run, and that nobody's waiting for a busy machine counts."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
import torch

from grader.tests.workers import LEVELS, LIMITS, Ask, asking, zygote
from grader.worker.home import WorkerHome
from grader.worker.launch import Sandbox
from kata.failures import TimedOut
from tests.probes import linear as probes

ON_ONE_CORE = "import os\nos.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\n"


@pytest.fixture(scope="module", params=LEVELS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A zygote at each level."""
    yield from zygote(request, LIMITS)


@pytest.fixture
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    """Have a student's code run in it."""
    yield from asking(sandbox)


@pytest.fixture
def busy_core() -> Iterator[None]:
    """Three processes that never stop working on one core."""
    others = [subprocess.Popen([sys.executable, "-c", f"{ON_ONE_CORE}while True: pass"]) for _ in range(3)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.usefixtures("busy_core")
def test_waiting_for_a_busy_machine_is_not_the_students_time(ask: Ask) -> None:
    work = "until = time.process_time() + 1.5\nwhile time.process_time() < until: pass\nanswer = torch.ones(1)"
    assert torch.equal(ask(work, before=f"{ON_ONE_CORE}import time"), torch.ones(1)), "6 seconds at a quarter of a core"


def test_nor_is_the_graders_own_waiting(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.worker.home.seconds_waited", time.monotonic)  # as if it had done nothing else
    home = WorkerHome(sandbox.clone(), LIMITS)
    home.open({"linear.py": b"import time\ntime.sleep(4)\nfrom torch.nn import Linear"}, 1.0)
    home.renew("linear")
    assert home.exercise(probes.initial_weights, [1, 1, 1, 0]).outcome == "returned", "after 4 seconds, not 3"
    assert home.kata_left > LIMITS.kata_seconds - 1
    home.end()
    home.control.close()


@pytest.mark.usefixtures("busy_core")
def test_working_for_too_long_is(ask: Ask) -> None:
    with pytest.raises(TimedOut, match="no answer within 3 seconds"):
        ask("while True: pass", before=ON_ONE_CORE)


@pytest.mark.usefixtures("busy_core")
def test_sleeping_for_too_long_is(ask: Ask) -> None:
    with pytest.raises(TimedOut, match="no answer within 3 seconds"):
        ask("import time\ntime.sleep(60)")
