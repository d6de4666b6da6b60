"""Tests of workers: what a student's code can access, and how a worker exits.

The attacks in `grader/tests/attacks/` try to get out of a worker, and `unit/test_syscalls.py` tests its filter.
"""

import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.sandbox.launch import Sandbox, copy_runtime, list_hidden_files
from grader.sandbox.runner import WorkerRunner
from grader.tests import ROOT
from grader.tests.support.sandbox_workers import LEVELS, LIMITS, Ask, open_worker, start_sandbox
from tests.probes import linear as probes
from torchkata.course import course
from torchkata.seam.failures import Crashed, Died, TimedOut
from torchkata.seam.student import Student

TORCHS = "from torch.nn import Linear"
SECRET = "TORCHKATA_SECRET"
in_bwrap = pytest.mark.parametrize("sandbox", ["bwrap"], indirect=True)  # for limits that the grader itself measures
ON_ONE_CORE = "import os\nos.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\n"


@pytest.fixture(scope="module", params=LEVELS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    os.environ[SECRET] = "1"
    yield from start_sandbox(request, LIMITS)


@pytest.fixture
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    yield from open_worker(sandbox)


@contextmanager
def open_runner(sandbox: Sandbox, source: str, **limits: Any) -> Iterator[tuple[WorkerRunner, Student]]:
    """Start a worker with the given source of `linear.py`."""
    runner = WorkerRunner(sandbox.clone(), replace(LIMITS, **limits))
    student = Student(runner)
    runner.open({"linear.py": source.encode()}, 1.0)
    student.reset("linear")
    try:
        yield runner, student
    finally:
        runner.end()
        runner.control.close()


def make_weights(student: Student) -> object:
    return student.call(probes.initial_weights, 1, 1, 1, 0)


def test_each_test_runs_in_a_new_worker(ask: Ask) -> None:
    count = "torch.COUNT = getattr(torch, 'COUNT', 0) + 1\nanswer = torch.COUNT"
    assert [ask(count), ask(count)] == [1, 1]


def test_worker_does_not_see_environment_variables(ask: Ask) -> None:
    assert SECRET in os.environ
    assert SECRET not in ask("answer = sorted(os.environ)")


def test_worker_has_no_open_files_except_its_channel(ask: Ask) -> None:
    is_open = "def is_open(fd):\n    try:\n        return os.fstat(fd)\n    except OSError:\n        return None"
    assert ask("answer = [fd for fd in range(3, 200) if is_open(fd)]", is_open) == [3]


@pytest.mark.parametrize("sandbox", [pytest.param("bwrap", marks=pytest.mark.sample), "none"], indirect=True)
@pytest.mark.parametrize("answer", ["[bytes(2**26) for _ in range(64)]", "torch.ones(2**31)"])
def test_worker_memory_is_limited(ask: Ask, answer: str) -> None:
    with pytest.raises(Crashed, match=r"MemoryError|allocate"):
        ask(f"answer = {answer}")  # never written to, because a machine may be slow to allocate pages


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("os._exit(0)", "exited Python (exit code 0)"),
        ("os._exit(3)", "exit code 3"),
        ("os.kill(os.getpid(), 11)\nimport ctypes\nctypes.string_at(0)", "SIGSEGV"),
        ("os.write(3, b'nonsense, and a lot of it')", "too large"),
        ("os.close(3)", ""),
        ("os.write(3, b'\\x01\\x00\\x00\\x00\\xc0' * 2)", "malformed"),
    ],
)
def test_cause_of_worker_exit_is_reported(ask: Ask, body: str, words: str) -> None:
    with pytest.raises(Died) as died:
        ask(body)
    assert words in died.value.how


@pytest.mark.parametrize("error", ["SystemExit(0)", "KeyboardInterrupt()", "GeneratorExit()", "BaseException('mine')"])
def test_exception_is_reported_as_crash_with_line(ask: Ask, error: str) -> None:
    with pytest.raises(Crashed, match=error.partition("(")[0]) as crashed:
        ask(f"raise {error}")
    assert (crashed.value.place.file, crashed.value.place.source) == ("linear.py", f"raise {error}")


def test_unprintable_exception_is_reported_as_crash(ask: Ask) -> None:
    with pytest.raises(Crashed, match="cannot be shown"):
        ask("raise Evil()", "class Evil(Exception):\n    def __str__(self):\n        raise ValueError")


@pytest.mark.parametrize(
    "attempt",
    [
        "os.kill(os.getppid() or 2, 0)",
        "os.kill(-1, 0)",
        "os.setpriority(os.PRIO_PROCESS, os.getppid() or 2, 19)",
        "__import__('resource').prlimit(os.getppid() or 2, 7, (1, 1))",
        "os.open('/proc/self/mem', os.O_RDWR)",
    ],
)
def test_worker_cannot_reach_processes_outside_sandbox(ask: Ask, attempt: str) -> None:
    with pytest.raises(Crashed, match=r"PermissionError|Operation not permitted|not implemented|FileNotFoundError"):
        ask(attempt)


@in_bwrap
def test_worker_sees_only_its_own_process(ask: Ask) -> None:
    assert (ask("answer = os.getpid()"), ask("answer = os.listdir('/proc')")) == (1, [])


@in_bwrap
def test_worker_has_little_scratch_space(ask: Ask) -> None:
    with pytest.raises(Crashed, match=r"space|too large"):
        ask("for i in range(8): os.posix_fallocate(os.open(f'{i}', os.O_RDWR | os.O_CREAT), 0, 2**26)")


def test_worker_can_use_threads_and_signals(ask: Ask) -> None:
    threads = "import threading, signal\nsum_ = []\n"
    threads += "t = [threading.Thread(target=sum_.append, args=(i,)) for i in range(8)]\n[x.start() for x in t]\n"
    threads += "[x.join() for x in t]\nsignal.signal(10, lambda *_: sum_.append(100))\n"
    threads += "os.kill(os.getpid(), 10)\nsignal.raise_signal(10)\ntorch.set_num_threads(2)\n"
    threads += "answer = sum(sum_) + float((torch.ones(300, 300) @ torch.ones(300, 300))[0, 0])"
    assert ask(threads) == 28 + 200 + 300


def test_time_of_a_single_call_is_limited(ask: Ask) -> None:
    with pytest.raises(TimedOut, match="3 seconds"):
        ask("import re\nre.match('(a+)+$', 'a' * 64 + 'b')")  # in C code, where no signal handler can run
    assert ask("answer = 1") == 1


@pytest.fixture
def busy_core() -> Iterator[None]:
    """Keep one core busy with three processes."""
    others = [subprocess.Popen([sys.executable, "-c", f"{ON_ONE_CORE}while True: pass"]) for _ in range(3)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.timing
@pytest.mark.usefixtures("busy_core")
def test_time_spent_waiting_for_cpu_is_excluded(ask: Ask) -> None:
    work = "until = time.process_time() + 1.5\nwhile time.process_time() < until: pass\nanswer = torch.ones(1)"
    assert torch.equal(ask(work, before=f"{ON_ONE_CORE}import time"), torch.ones(1)), "1.5 s of work take 6 s"


@pytest.mark.timing
@pytest.mark.usefixtures("busy_core")
@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(60)"])
def test_computing_or_sleeping_too_long_times_out(ask: Ask, body: str) -> None:
    with pytest.raises(TimedOut, match="your code did not return within 3 seconds"):
        ask(body, before=f"{ON_ONE_CORE}import time")


@in_bwrap
def test_total_time_of_all_calls_is_limited(sandbox: Sandbox) -> None:
    slow = "import time, torch\nclass Linear(torch.nn.Module):\n    def __init__(self, i, o):\n"
    slow += "        super().__init__()\n        time.sleep(2)\n        self.weight = torch.zeros(1)\n"
    with open_runner(sandbox, slow) as (_, student):
        began = time.monotonic()
        with pytest.raises(TimedOut, match="took too long in total"):
            deque(make_weights(student) for _ in range(9))
        assert time.monotonic() - began >= LIMITS.test_seconds
        student.reset("linear")
        make_weights(student)


@in_bwrap
def test_time_to_check_an_answer_is_limited(sandbox: Sandbox) -> None:
    with open_runner(sandbox, TORCHS, test_seconds=0.5, call_seconds=60.0) as (runner, student):
        compute_for(1.0)  # the time limit excludes drawing inputs before the first call
        runner.test_left = 60.0
        make_weights(student)
        compute_for(1.0)
        with pytest.raises(TimedOut, match="checking the results of this test"):
            make_weights(student)


def compute_for(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@in_bwrap
def test_time_limits_exclude_waiting_time_of_the_grader(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.runner.measure_waiting", time.monotonic)  # as if it had only waited
    with open_runner(sandbox, f"import time\ntime.sleep(1)\n{TORCHS}", call_seconds=0.5) as (runner, _):
        assert runner.run_probe(probes.initial_weights, [1, 1, 1, 0]).outcome == "returned", "waiting must not count"
        assert runner.kata_left > LIMITS.kata_seconds - 1


def test_self_test_reports_what_workers_can_access(sandbox: Sandbox) -> None:
    runner = WorkerRunner(sandbox.clone(), LIMITS)
    found = runner.find_violations([*list_hidden_files(), "/etc/passwd"])
    runner.control.close()
    assert found == [] if sandbox.isolation == "bwrap" else any(words.startswith("read ") for words in found)
    prevented = {"start a process", "trace a process", "make namespaces", "communicate through a socket"}
    assert not {*prevented, "make system calls that no library needs"} & set(found)


def test_project_files_are_hidden_from_workers() -> None:
    files = {str(Path(path).relative_to(ROOT)) for path in list_hidden_files()}
    private = {"reference/linear/oracle.py", "reference/sgd/wrong.toml", "reference/sgd/fallback.py", "conftest.py"}
    assert private <= files
    assert not any(".venv/" in path or ".git/" in path for path in files)


@pytest.mark.parametrize("timed", [False, True])
def test_only_timed_workers_get_workload_files(*, timed: bool) -> None:
    runtime = copy_runtime(timed=timed)
    found = {path.relative_to(runtime).as_posix() for path in runtime.glob("reference/**/*") if path.is_file()}
    marker = (runtime / "reference/__init__.py").read_bytes() if timed else b""
    shutil.rmtree(runtime)
    workloads = {f"reference/workloads/{name}.py" for name in (*course().workloads, "optimizers", "training")}
    assert found == ({"reference/__init__.py", *workloads} if timed else set())
    assert marker == b"", "the worker's reference/__init__.py must be empty"
