"""Timed workers are paused between blocks, stay on their core, cannot forge their time, and are tried before use."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TypeAlias

import pytest
import torch

from grader.sandbox.launch import Sandbox
from grader.speed import timing_device
from grader.speed.paused_worker import SLIP
from grader.speed.smoke_test import BROKEN, run_smoke_test
from grader.speed.timed_worker import Task, TimedWorker
from grader.tests.support.sandbox_workers import LEVELS, start_sandbox
from grader.tests.support.shared_gpu_memory import append_code
from torchkata.course import course
from torchkata.inside.speed.layout import bytes_needed
from torchkata.inside.speed.sizes import Size
from torchkata.seam.failures import Crashed, Died, NotStarted, TimedOut
from torchkata.speed.memory import most_calls

Begin: TypeAlias = Callable[..., TimedWorker]
SMALL = Task("linear_forward", "cpu", Size(batch=64, width=64, outputs=31), calls=3)
SOLUTION = course().solutions()
LIMITS = timing_device.get_limits()


@pytest.fixture(scope="module", params=LEVELS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    yield from start_sandbox(request, LIMITS, timing_device.plan_workers())


@pytest.fixture
def timed(sandbox: Sandbox) -> Iterator[Begin]:
    """Yield a function that starts a worker for a task, with the solution, other files or the baseline."""
    workers: list[TimedWorker] = []
    controls = []

    def begin(task: Task = SMALL, files: Mapping[str, str] | None = None, *, trusted: bool = False) -> TimedWorker:
        controls.append(sandbox.clone())
        given = None if trusted else SOLUTION | {name: text.encode() for name, text in (files or {}).items()}
        workers.append(TimedWorker(controls[-1], LIMITS, task, given))
        return workers[-1]

    yield begin
    for begun in workers:
        begun.close()
    for control in controls:
        control.close()


def linear(forward: str, before: str = "") -> dict[str, str]:
    """Return the source of a layer whose `forward` has the given body."""
    lines = "\n        ".join(forward.splitlines())
    source = (
        f"import os, threading, time, torch\n{before}\nclass Linear(torch.nn.Module):\n    def __init__(self, i, o):\n"
    )
    source += "        super().__init__()\n        self.weight = torch.nn.Parameter(torch.randn(i, o) / i**0.5)\n"
    return {"linear.py": f"{source}    def forward(self, x):\n        {lines}\n        return x @ self.weight\n"}


def test_solution_and_baseline_results_are_correct(timed: Begin) -> None:
    for trusted in (False, True):
        begun = timed(trusted=trusted)
        for _ in range(3):
            done = begun.block(60)
            assert 0 < done.seconds < 60
            assert done.error <= 2 * begun.check.floor, "estimates from few elements vary"


def test_forged_check_does_not_affect_verdict(timed: Begin) -> None:
    forged = "from reference.workloads.linear_forward import ProductCheck\nProductCheck.error = lambda self: 0.0\n"
    begun = timed(files=linear("return torch.zeros(len(x), 31)", forged))
    assert begun.block(60).error == float("inf")


def test_timed_worker_is_paused_between_blocks(timed: Begin) -> None:
    before = (
        "import sys\narena = sys.modules['grader.sandbox.inside.timed_work']\n"
        "def count():\n"
        "    import gc, mmap\n"
        "    held = next(m for m in gc.get_objects() if isinstance(m, mmap.mmap) and not m.closed)\n"
        "    while True:\n"
        "        held[8000] = (held[8000] + 1) % 256  # between two tensors\n"
        "        time.sleep(0.001)\n"
    )
    start = "if not hasattr(self, 'started'):\n    self.started = threading.Thread(target=count, daemon=True)\n"
    begun = timed(files=linear(f"{start}    self.started.start()\ntime.sleep(0.2)", before))
    arena = find_arena(begun)
    begun.block(60)
    counted = int(arena[8000])
    assert counted > 0, "the thread must run during a request"
    threading.Event().wait(0.2)
    assert int(arena[8000]) == counted, "the thread must not run after a request"


SPIN = """
def spin():
    def work():
        while True: pass
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread
"""


def find_arena(timed: TimedWorker) -> torch.Tensor:
    """Return the memory that is shared with a worker as a one-dimensional uint8 tensor."""
    some = timed.memory["x"]
    return torch.empty(0, dtype=torch.uint8).set_(some.untyped_storage())


MANY_THREADS = """
def work():
    until = time.process_time() + 0.2
    while time.process_time() < until: pass
several = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in several]
[thread.join() for thread in several]"""


def test_measured_block_time_includes_all_threads(timed: Begin) -> None:
    assert timed(files=linear(MANY_THREADS)).block(60).seconds >= 0.2 * SMALL.calls


@pytest.mark.parametrize(
    ("files", "ends"),
    [
        ({"linear.py": course().stub("linear").read_text()}, NotStarted),
        (linear("raise ValueError('no')"), Crashed),
        (linear("os._exit(3)"), Died),
        (linear("while True: pass"), TimedOut),
        (linear("", "syntax error"), Crashed),
    ],
    ids=["stub", "raises", "exits", "never answers", "does not parse"],
)
def test_failed_worker_does_not_affect_next_worker(
    sandbox: Sandbox, files: dict[str, str], ends: type[BaseException]
) -> None:
    with sandbox.clone() as control:
        handed_in = SOLUTION | {name: text.encode() for name, text in files.items()}
        with pytest.raises(ends), closing(TimedWorker(control, LIMITS, SMALL, handed_in)) as bad:
            bad.block(1 if ends is TimedOut else 60)
        following = TimedWorker(control, LIMITS, SMALL, SOLUTION)
        assert following.block(60).error <= following.check.floor
        following.close()


@pytest.mark.parametrize(
    "place",
    [  # unit/test_syscalls.py tests more calls
        "os.sched_setaffinity(0, range(os.cpu_count()))",
        "open('x', 'wb', buffering=0).write(b'x')",
        "os.link(__file__, 'link')",
        "os.mkfifo('node')",
    ],
)
def test_worker_cannot_leave_its_core_or_hide_memory(timed: Begin, sandbox: Sandbox, place: str) -> None:
    if sandbox.isolation == "none" and "open" not in place:
        pytest.skip("there a filter is not demanded")
    with pytest.raises(Crashed, match=r"PermissionError|File too large"):
        timed(files=linear(place)).block(60)


def test_work_during_a_pause_is_detected(timed: Begin) -> None:
    begun = timed(files=linear("if not hasattr(self, 'busy'):\n    self.busy = spin()", SPIN))
    begun.block(60)
    runner = begun.worker.runner
    runner.signal(b"R")
    while runner.measure().cpu - begun.worker.stood <= 2 * SLIP:
        time.sleep(0.01)
    with pytest.raises(Died, match="while it should have been paused"):
        begun.worker.demand_paused()


def test_background_threads_do_not_extend_the_deadline(timed: Begin) -> None:
    with pytest.raises(TimedOut):
        timed(files=linear("many = [spin() for _ in range(20)]\nwhile True: pass", SPIN)).block(1)


@pytest.mark.parametrize("available", [0, 4096, 10**5, 10**6])
def test_calls_per_block_are_limited_by_memory(available: int) -> None:
    def needed(calls: int) -> int:
        return bytes_needed(SMALL.work.fields(SMALL.size, calls))

    most = most_calls(needed, available)
    assert most == 0 or needed(most) <= available
    assert needed(most + 1) > available


STEPS = Task("sgd_step", "cpu", Size(parameters=1000, rate=0.1), calls=2, times=3)
ALL_AT_ONCE = """
steps = [0]
@torch.no_grad()
def step(self, closure=None):
    steps[0] += 1
    for group in self.param_groups:
        for p in group["params"] if steps[0] % 6 in (1, 2) else ():
            p.sub_(3 * group["lr"] * p.grad)
SGD.step = step
"""


def test_each_repetition_in_block_has_different_inputs(timed: Begin) -> None:
    begun = timed(STEPS)
    assert begun.block(60).error <= begun.check.floor
    at_once = timed(STEPS, {"sgd.py": SOLUTION["sgd.py"].decode() + ALL_AT_ONCE})
    assert at_once.block(60).error > 100 * at_once.check.floor


BREAKS = {
    "memory that is not there": (
        "def lay_out(self, order):\n    raise OSError(12, 'Cannot allocate memory')\nTimedWork.lay_out = lay_out",
        "a worker could not map its memory (OSError: [Errno 12] Cannot allocate memory)",
    ),
    "a worker that dies": ("TimedWork.begin = lambda self: os._exit(1)", "plain torch failed ("),
    "a block that does nothing": (
        "TimedWork.begin = lambda self: setattr(self, 'block', lambda: None)",
        "plain torch gave a wrong result on this device",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_smoke_test_reports_what_is_broken(sandbox: Sandbox, name: str) -> None:
    work = sandbox.runtime / "grader/sandbox/inside/timed_work.py"
    whole, (code, words) = work.read_text(), BREAKS[name]
    assert run_smoke_test("cpu", sandbox) == ""
    append_code(sandbox.runtime, "timed_work", code)
    try:
        assert run_smoke_test("cpu", sandbox).startswith(f"{BROKEN}: {words}")
    finally:
        work.write_text(whole)
