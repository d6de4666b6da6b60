"""Tests of workers: what a student's code can access, and how a worker exits.

The attacks in `grader/tests/attacks/` try to get out of a worker, and `unit/test_syscalls.py` tests its filter.
"""

import os
import shutil
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.sandbox.inside.channel import LARGE
from grader.sandbox.launch import Sandbox
from grader.sandbox.mounts import copy_runtime, list_hidden_files
from grader.sandbox.runner import WorkerRunner
from grader.tests import ROOT
from grader.tests.support.sandbox_workers import LEVELS, LIMITS, Ask, open_worker, start_sandbox
from tests.probes import linear as probes
from torchkata.course import course
from torchkata.seam.failures import Crashed, Died, Inconclusive, TimedOut
from torchkata.seam.student import Student

SECRET = "TORCHKATA_SECRET"
in_bwrap = pytest.mark.parametrize("sandbox", ["bwrap"], indirect=True)  # for limits that the grader itself measures


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


def make_weights_in_new_worker(runner: WorkerRunner, student: Student) -> object:
    runner.renew()
    return make_weights(student)


@in_bwrap
def test_large_files_are_not_overwritten_by_calls(sandbox: Sandbox) -> None:
    with open_runner(sandbox, f"linear = len\n{'#' * LARGE}\n") as (_, student):
        assert student.call("linear", torch.zeros(LARGE)) == LARGE


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


SPIN = (
    "def spin(seconds=600.0):\n    until = time.process_time() + seconds\n    while time.process_time() < until: pass"
)
THREADS = "several = [threading.Thread(target=spin, args=(0.6,), daemon=True) for _ in range(4)]\n"
THREADS += "[one.start() for one in several] + [one.join() for one in several]"
BY_CPU, BY_CLOCK = (
    r"your code used more than 0\.5 seconds of CPU time",
    "your code took more than 2 seconds, mostly waiting$",
)


def make_layer(body: str) -> str:
    """Return the source of a layer whose `__init__` runs the given code."""
    lines = body.replace("\n", "\n        ")
    source = (
        f"import os, threading, time, torch\n{SPIN}\nclass Linear(torch.nn.Module):\n    def __init__(self, i, o):\n"
    )
    return f"{source}        super().__init__()\n        {lines}\n        self.weight = torch.zeros(1)\n"


@pytest.mark.parametrize(
    ("body", "wall_factor", "words"),
    [
        pytest.param("spin()", 1000.0, BY_CPU, id="endless loop", marks=pytest.mark.sample),
        pytest.param("import re; re.match('(a+)+$', 'a' * 64 + 'b')", 1000.0, BY_CPU, id="in C, without handlers"),
        pytest.param("threading.Thread(target=spin).start(); time.sleep(600)", 1000.0, BY_CPU, id="busy thread"),
        pytest.param(THREADS, 1000.0, BY_CPU, id="threads that have ended"),
        pytest.param("time.sleep(600)", 4.0, BY_CLOCK, id="sleep", marks=pytest.mark.sample),
        pytest.param("lock = threading.Lock(); lock.acquire(); lock.acquire()", 4.0, BY_CLOCK, id="deadlock"),
    ],
)
def test_call_ends_at_one_of_two_limits(sandbox: Sandbox, body: str, wall_factor: float, words: str) -> None:
    with open_runner(sandbox, make_layer(body), call_seconds=0.5, wall_factor=wall_factor) as (runner, student):
        with pytest.raises(TimedOut, match=words):
            make_weights(student)
        left = runner.kata.allowed - runner.kata.left
        assert left.cpu >= 0.5 if words == BY_CPU else left.wall >= 2.0


def test_wait_for_a_processor_costs_nothing(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.runner.read_queue", lambda _: time.monotonic())
    with open_runner(sandbox, make_layer("time.sleep(0.8)"), call_seconds=5.0, wall_factor=0.05) as (runner, student):
        make_weights(student)
        assert (runner.kata.allowed - runner.kata.left).wall < 0.25


def test_starved_call_is_inconclusive(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.runner.read_queue", lambda _: time.monotonic())
    with (
        open_runner(sandbox, make_layer("time.sleep(600)"), call_seconds=5.0, wall_factor=0.05) as (_, student),
        pytest.raises(Inconclusive, match="waited for a processor most of the time: the machine is busy"),
    ):
        make_weights(student)


def test_waiting_costs_no_cpu_time(sandbox: Sandbox) -> None:
    with open_runner(sandbox, make_layer("time.sleep(0.8)"), call_seconds=0.5, wall_factor=1000.0) as (runner, student):
        make_weights(student)
        used = runner.kata.allowed - runner.kata.left
        assert used.cpu < 0.5 < 0.8 <= used.wall


@in_bwrap
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("spin(0.2)", "the calls of this test used more than 0.5 seconds of CPU time"),
        ("time.sleep(0.8)", "the calls of this test took more than 2 seconds, mostly waiting"),
    ],
)
def test_total_time_of_all_calls_is_limited(sandbox: Sandbox, body: str, words: str) -> None:
    factor = 4.0 if "sleep" in body else 1000.0
    with open_runner(sandbox, make_layer(body), test_seconds=0.5, wall_factor=factor) as (runner, student):
        with pytest.raises(TimedOut, match=words):
            deque(make_weights_in_new_worker(runner, student) for _ in range(9))
        student.reset("linear")
        make_weights(student)


@in_bwrap
def test_kata_time_includes_calls_without_answer(sandbox: Sandbox) -> None:
    source = make_layer("spin(0.2)\nos._exit(1)")
    with open_runner(sandbox, source, kata_seconds=0.5, wall_factor=1000.0) as (_, student):
        for _ in range(2):
            with pytest.raises(Died):
                make_weights(student)
            student.reset("linear")
        with pytest.raises(TimedOut, match=r"the tests of this kata used more than 0\.5 seconds of CPU time"):
            make_weights(student)


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
