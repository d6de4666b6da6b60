"""On a machine that can't measure time correctly, speed is not graded, and the run prints the reason once."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.sandbox.launch import Sandbox, launch
from grader.speed import setup
from grader.speed.smoke_test import BROKEN, run_smoke_test
from grader.tests.conftest import run_python
from grader.tests.support.shared_gpu_memory import append_code
from grader.tests.support.submissions import LINEAR, write_submissions

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


GRADE = f"""
import sys
from grader.sandbox import launch
from grader.tests.support.shared_gpu_memory import append_code
start = launch.launch
def with_a_fault(*given, **options):
    sandbox = start(*given, **options)
    append_code(sandbox, "timed_work", {BREAKS["a block that fails"][0]!r})
    return sandbox
launch.launch = with_a_fault
from grader.cli import main
main()
"""


def test_speed_is_not_graded_after_failed_smoke_test(tmp_path: Path) -> None:
    paths = write_submissions(tmp_path / "class", LINEAR, "ada", "bob")
    options = ["--out", str(tmp_path / "out"), "--kata", "linear", "--examples", "5", "--device", "cpu", "--quiet"]
    done = run_python("-c", GRADE, "grade", *map(str, paths), *options)
    assert done.code == 3
    (told,) = [line for line in done.err.splitlines() if "speed is not graded" in line]
    assert BREAKS["a block that fails"][1] in told
    for path in paths:
        stored = json.loads((tmp_path / "out" / path.name / "result.json").read_text())
        (row,) = stored["performance"]
        assert (row["outcome"], row["max_score"]) == ("not_graded", 0)
        assert row["message"] in told
        assert stored["score"] == stored["max_score"] > 0
