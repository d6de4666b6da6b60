"""The smoke test detects that a machine can't measure time correctly."""

from collections.abc import Iterator

import pytest

from grader.sandbox.launch import Sandbox, launch
from grader.speed import setup
from grader.speed.smoke_test import BROKEN, run_smoke_test
from grader.tests.support.shared_gpu_memory import append_code

pytestmark = pytest.mark.usefixtures("needs_bwrap")

BREAKS = {
    "memory that is not there": (
        "def lay_out(self, order):\n    raise OSError(12, 'Cannot allocate memory')\nTimedWork.lay_out = lay_out",
        "a worker could not map its memory (OSError: [Errno 12] Cannot allocate memory)",
    ),
    "a worker that dies": ("TimedWork.begin = lambda self: os._exit(1)", "plain torch failed ("),
    "a block that fails": (
        "def fail():\n    raise RuntimeError('no kernel')\nTimedWork.begin = lambda self: setattr(self, 'block', fail)",
        "plain torch failed (RuntimeError: no kernel",
    ),
    "a block that does nothing": (
        "TimedWork.begin = lambda self: setattr(self, 'block', lambda: None)",
        "plain torch gave a wrong result on this device",
    ),
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Return a sandbox for workers that run timed work on the CPU."""
    started = launch("bwrap", setup.get_limits(), setup.plan_workers())
    started.wait_until_ready()
    yield started
    started.close()


@pytest.mark.parametrize("name", BREAKS)
def test_smoke_test_reports_what_is_broken(sandbox: Sandbox, name: str) -> None:
    bench = sandbox.runtime / "grader/sandbox/timed_work.py"
    whole, (code, words) = bench.read_text(), BREAKS[name]
    assert run_smoke_test("cpu", sandbox) == ""
    append_code(sandbox, "timed_work", code)
    try:
        assert run_smoke_test("cpu", sandbox).startswith(f"{BROKEN}: {words}")
    finally:
        bench.write_text(whole)
