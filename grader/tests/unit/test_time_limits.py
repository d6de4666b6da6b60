"""On a student's own machine, calls have the same two limits as in the grader: CPU time, and time by the clock."""

import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.inside.channel import Channel
from grader.sandbox.runner import WorkerRunner
from grader.tests.conftest import run_python
from torchkata.course import Limits
from torchkata.seam import time_limits
from torchkata.seam.failures import Endless, Inconclusive, Place, TimedOut
from torchkata.seam.student import InProcess
from torchkata.seam.time_limits import limit_processor_time, measure_queue

SPIN = "import time\nuntil = time.process_time() + {seconds}\nwhile time.process_time() < until:\n    pass\n"


def import_module(folder: Path, source: str, **limits: Any) -> None:
    """Import a module with this source as a student's code."""
    (folder / "linear.py").write_text(source)
    InProcess(folder, Limits(**limits)).run_probe(lambda assignment: assignment.linear.__name__, [])


def test_endless_loop_ends_by_cpu_time(tmp_path: Path) -> None:
    with pytest.raises(TimedOut, match=r"^your code used more than 0\.2 seconds of CPU time$") as late:
        import_module(tmp_path, "while True:\n    pass\n", call_seconds=0.2, wall_factor=1000.0)
    assert late.value.place in (Place("linear.py", 1, "while True:"), Place("linear.py", 2, "pass"))


@pytest.mark.parametrize(("queued", "least"), [(0.0, 0.4), (0.6, 1.0)])
def test_waiting_ends_by_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queued: float, least: float
) -> None:
    began = time.monotonic()
    monkeypatch.setattr(time_limits, "measure_queue", lambda: min(time.monotonic() - began, queued))
    with pytest.raises(TimedOut, match=r"took more than 0\.4 seconds, mostly waiting$") as late:
        import_module(tmp_path, "import time\ntime.sleep(60)\n", call_seconds=0.2, wall_factor=2.0)
    assert late.value.place == Place("linear.py", 2, "time.sleep(60)")
    assert time.monotonic() - began > least


@pytest.mark.parametrize(
    ("pause", "factor", "words"),
    [(0.0, 1000.0, r"used more than 0\.2 seconds of CPU time"), (0.01, 2.0, r"took more than 0\.4 seconds, .*")],
)
def test_endless_print_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], pause: float, factor: float, words: str
) -> None:
    source = f"import time\nwhile True:\n    print('x' * 10**5, flush=True)\n    time.sleep({pause})\n"
    with pytest.raises(TimedOut, match=rf"^your code {words}; it printed [\d.]+ MB of text$"):
        import_module(tmp_path, source, call_seconds=0.2, wall_factor=factor)
    assert len(capfd.readouterr().out) < 2 * time_limits.MOST_PRINTED


def test_tracer_is_named_if_it_slows_code_down(tmp_path: Path) -> None:
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        with pytest.raises(TimedOut, match="coverage or a debugger traces your code"):
            import_module(tmp_path, "while True:\n    pass\n", call_seconds=0.2, wall_factor=1000.0)
    finally:
        sys.settrace(before)


@pytest.mark.skipif(measure_queue() == 0.0, reason="this system does not count how long a thread waits")
def test_queue_counts_waits_for_a_processor() -> None:
    code = "import os, time\nfrom torchkata.seam.time_limits import measure_queue\n"
    code += "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\nother = os.fork()\n"
    code += "while time.process_time() < 0.4:\n    pass\nif other:\n    print(measure_queue())"
    assert 0.1 < float(run_python("-c", code).out) < 60


def test_waiting_costs_no_cpu_time(tmp_path: Path) -> None:
    import_module(tmp_path, "import time\ntime.sleep(0.5)\n", call_seconds=0.2, wall_factor=1000.0)


def test_person_in_a_debugger_has_all_the_time(tmp_path: Path) -> None:
    asking = "import time\nexec('time.sleep(0.6)', {'__name__': 'pdb', 'time': time})\ntime.sleep(0.6)\n"
    import_module(tmp_path, asking, call_seconds=0.2, wall_factor=2.0)


def test_limit_of_a_test_excludes_its_calls(tmp_path: Path) -> None:
    with limit_processor_time(0.5, Endless(0.5)):
        import_module(tmp_path, SPIN.format(seconds=0.8))
        with pytest.raises(Endless):
            compute_for(60)


def test_limit_waits_where_an_exception_would_be_lost() -> None:
    class Slow:
        def __del__(self) -> None:
            compute_for(1.0)

    with limit_processor_time(0.2, Endless(0.2)):
        slow = Slow()
        del slow
        with pytest.raises(Endless):
            compute_for(60)


def compute_for(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_silent_zygote_is_not_a_time_out() -> None:
    (control, zygote), (line, worker) = socket.socketpair(), socket.socketpair()
    with control, zygote:
        runner = WorkerRunner(control, Limits(call_seconds=0.05, wall_factor=1.0))
        runner.open({}, 1.0)
        runner.reset("linear")
        runner.channel = Channel(line)
        worker.close()
        control.settimeout(0.1)  # longer than the call may take
        with pytest.raises(Inconclusive):
            runner.run_probe(lambda _: None, [])


CATCHES = "while True:\n    try:\n        {work}\n    except BaseException:\n        continue\n"
DELETES = "class Temporary:\n    def __del__(self):\n        {work}\nwhile True:\n    Temporary()\n"
SPIN_BRIEFLY, SPIN_FOREVER = "for _ in range(3_000_000): pass", "while True: pass"
LOST = {
    "caught while it computes": CATCHES.format(work="sum(range(100))"),
    "caught while it sleeps": f"import time\n{CATCHES.format(work='time.sleep(0.01)')}",
    "caught by a bare except": "while True:\n    try: sum(range(100))\n    except: pass\n",
    "caught in another function": f"def work():\n    sum(range(100))\n{CATCHES.format(work='work()')}",
    "ignored in many finalizers": DELETES.format(work=SPIN_BRIEFLY),
    "ignored in an endless finalizer": DELETES.format(work=SPIN_FOREVER),
    "ignored in a callback": f"import weakref\nclass A: pass\ndef spin(_):\n    {SPIN_BRIEFLY}\n"
    "while True:\n    a = A()\n    b = weakref.ref(a, spin)\n    del a\n",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", LOST)
def test_lost_time_out_is_raised_again(tmp_path: Path, name: str) -> None:
    with pytest.raises(TimedOut) as late:
        import_module(tmp_path, LOST[name], call_seconds=0.2, wall_factor=5.0)
    assert late.value.place.file == "linear.py"
    assert sys.gettrace() is None
