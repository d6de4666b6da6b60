"""Tests of the CUDA code path on a simulated device: synchronization, idleness, blocks, memory and device state."""

import math
import mmap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
import torch

from grader.sandbox.inside import cuda, timed_work
from grader.sandbox.inside.requests import WorkloadRequest
from grader.speed import timed_worker, timing_device
from grader.speed.idle import BUSY, LOOK_SECONDS, IdleDetector
from grader.speed.state import DeviceState, StateUnknown
from grader.speed.timed_worker import SLACK, Task, TimedWorker
from grader.tests.support.fake_device import PASS, FakeClock, FakeDevice, FakeWorker
from grader.tests.support.solution import SOLUTION
from torchkata.inside.assignment import Assignment
from torchkata.inside.reply import Reply
from torchkata.inside.speed.sizes import Size
from torchkata.inside.torch_internals import DispatchMode
from torchkata.seam.failures import Died, Inconclusive, TimedOut

PATIENCE = 60.0  # maximum seconds for a thread to start
SMALL = Task("linear_forward", "cuda", Size(batch=4, width=8, outputs=2), calls=2)
FOR_BOTH = pytest.mark.parametrize("files", [None, {}], ids=["baseline", "student"])


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that starts a timed worker on simulated devices."""
    monkeypatch.setattr(timed_worker, "PausedWorker", FakeWorker)
    monkeypatch.setattr(FakeWorker, "device", None)

    def begun(files: dict[str, bytes] | None, device: FakeDevice, task: Task = SMALL) -> Any:
        device.install(monkeypatch, timed_worker)
        return TimedWorker("student", timing_device.get_limits(), task, files, device)  # type: ignore[arg-type]

    return begun


def test_results_written_after_the_reply_are_rejected(begin: Callable[..., Any]) -> None:
    device = FakeDevice()
    timed = begin(None, device)
    assert timed.block(1.0).error <= 2 * timed.check.floor
    timed.worker.late, timed.worker.work = timed.worker.work, lambda: None
    assert timed.block(1.0).error == float("inf"), "results written after the answer must not count"
    assert not timed.memory["y"].isnan().any()
    timed.close()
    assert device.alive == 0


class BusyMode(DispatchMode):
    """A mode that marks the device as busy whenever a tensor is written to."""

    def __init__(self, device: FakeDevice) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.device = device

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.device.pending |= func._schema.is_mutable
        return func(*args, **(kwargs or {}))


@FOR_BOTH
def test_grader_synchronizes_before_worker_continues(
    begin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes] | None
) -> None:
    """The grader synchronizes after `prepare`, before each block and after copying the results."""
    device, pending = FakeDevice(), list[tuple[str, bool]]()

    def take(_worker: object, step: str) -> Reply:
        pending.append((step, device.pending))
        return Reply("returned")

    monkeypatch.setattr(FakeWorker, "take", take)
    with BusyMode(device):
        begin(files, device).block(1.0)
    assert [step for step, _ in pending] == ["start", "lay out", "begin", "go", "block", "still"]
    assert not [step for step, queued in pending if queued and step in ("lay out", "begin", "go", "block")]


def test_worker_synchronizes_before_it_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    device = FakeDevice()
    monkeypatch.setattr(cuda, "CUDA", device)
    worker = timed_work.TimedWork(Assignment(SOLUTION), mmap.mmap(-1, 2**16), device.descriptor)
    order = WorkloadRequest(SMALL.workload, SMALL.size, SMALL.calls, "cuda", trusted=True, device_bytes=2**16)
    worker.answer({"lay_out": msgspec.to_builtins(order)})
    worker.block = lambda: setattr(device, "pending", True)
    worker.answer({"block": True})
    assert not device.pending


@FOR_BOTH
def test_only_student_timing_waits_until_device_is_idle(
    begin: Callable[..., Any], files: dict[str, bytes] | None
) -> None:
    device = FakeDevice()
    device.busy_until, device.slower = math.inf, 3.0  # another process is still ending
    timed = begin(files, device)
    device.busy_until, device.slower = 0.0, 2.0
    timed.worker.late = lambda: setattr(device, "busy_until", device.now + 5.0)
    assert (timed.block(10.0).seconds > 5) == (files is not None), "only student code waits for an idle device"


@FOR_BOTH
def test_copying_time_is_subtracted(
    begin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes] | None
) -> None:
    device, seconds = FakeDevice(), iter([0.6, 0.2, 0.5])
    timed = begin(files, device, replace(SMALL, times=2))
    monkeypatch.setattr(timed, "settle", lambda: device.advance(next(seconds, 0.2)))
    assert timed.block(10.0).seconds == pytest.approx(1.6), "two times 1 s minus the shortest copying time"


STATE = DeviceState("580", 1980, 3201, 40, (), frozenset())


def test_state_monitor_reports_slowdowns_and_unreadable_state() -> None:
    states = [replace(STATE, slowed_ns={"too hot (driver)": count}) for count in (5, 5, 10**9, 10**9)]
    watch = timing_device.StateWatch(Mock(side_effect=states))
    found = [watch.check() for _ in states]
    assert found[0] == found[1] == found[3] == ""
    assert "the device slowed itself down: too hot (driver)" in found[2]
    assert "another process" in timing_device.StateWatch(lambda: replace(STATE, processes=frozenset({1}))).check()
    unknown = Mock(side_effect=StateUnknown("nvidia-ml-py is not installed"))
    assert timing_device.StateWatch(unknown).check() == "nvidia-ml-py is not installed"


@pytest.mark.parametrize(
    ("group", "files", "limit"),
    [
        ("0::/job/step", {"job/memory.max": "4096", "job/step/memory.max": "max"}, 4096),
        ("5:cpu:/a\n4:memory:/job", {"memory/job/memory.limit_in_bytes": "8192"}, 8192),
        ("0::/job", {"job/memory.max": "max"}, math.inf),
        ("", {}, math.inf),
    ],
)
def test_memory_limit_of_job_is_found(tmp_path: Path, group: str, files: dict[str, str], limit: float) -> None:
    (tmp_path / "group").write_text(group)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert timing_device.read_memory_limit(tmp_path / "group", tmp_path) == limit


def test_job_with_too_little_memory_is_not_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(timing_device, "read_memory_limit", lambda: 2.0**32)
    assert "may use only 4.0 GiB of memory" in timing_device.find_missing("cuda")
    monkeypatch.setattr(timing_device, "read_memory_limit", lambda: math.inf)
    assert timing_device.find_missing("cuda") == ""


def test_process_that_is_ending_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    clock.install(monkeypatch, timing_device)
    ends = 3.0
    read = lambda: replace(STATE, processes=frozenset({1} if clock.now < ends else ()))  # noqa: E731
    assert timing_device.StateWatch(read).begin() == ""
    clock.now, ends = 0.0, math.inf
    assert "another process" in timing_device.StateWatch(read).begin()
    assert clock.now >= timing_device.GONE_SECONDS
    clock.now = 0.0
    assert timing_device.StateWatch(Mock(side_effect=StateUnknown("no driver"))).begin() == "no driver"
    assert clock.now == 0.0, "waiting does not help"


def test_memory_reserved_by_torch_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (70, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 20)
    assert cuda.CUDA.free_bytes() == 90, "memory that torch has reserved can be used again"


@pytest.mark.parametrize(
    ("left", "back_after", "files", "expected"),
    [
        (SLACK, math.inf, None, (0.0, "")),  # libraries of this process also use some memory
        (SLACK + 1, 0.5, None, (0.5, "")),
        (2**30, math.inf, None, (timed_worker.BACK_SECONDS, "the memory of a finished process was not freed")),
        (2**30, math.inf, {}, (timed_worker.BACK_SECONDS, "")),  # the student's verdict does not change
    ],
)
def test_grader_waits_until_exited_worker_frees_memory(
    begin: Callable[..., Any], left: int, back_after: float, files: Any, expected: tuple[float, str]
) -> None:
    device, taken, error = FakeDevice(lambda: 2**33 - (taken if device.now < back_after else 0)), 0, ""
    timed = begin(files, device)
    device.now, taken = 0.0, left
    try:
        timed.close()
    except Inconclusive as found:
        error = str(found)
    assert device.alive == 0
    assert device.now == pytest.approx(expected[0], abs=0.1)
    assert error == expected[1]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    made = FakeDevice()
    made.install(monkeypatch)
    return made


def arm(timed: Any, device: FakeDevice, seconds: float) -> None:
    """Let the student's queued work run as soon as the grader has written the inputs. The block itself does nothing."""
    refresh, work = timed.check.refresh, timed.worker.work

    def release() -> None:
        refresh()
        work()
        device.busy_until = device.now + seconds

    timed.check.refresh, timed.worker.work = release, lambda: None


@pytest.mark.parametrize("seconds", [0.04, 1.0])
def test_work_that_begins_before_the_block_is_rejected(begin: Callable[..., Any], seconds: float) -> None:
    device = FakeDevice()
    timed = begin({}, device)
    arm(timed, device, seconds)
    with pytest.raises(Died, match="used the device before its block began"):
        timed.block(10.0)


def test_work_that_is_done_early_counts_nothing(begin: Callable[..., Any]) -> None:
    device = FakeDevice()
    timed = begin({}, device)
    refresh, work = timed.check.refresh, timed.worker.work
    arm(timed, device, 0.04)
    armed = timed.check.refresh

    def release_once() -> None:
        armed()
        timed.check.refresh = refresh

    timed.check.refresh = release_once
    assert timed.block(10.0).error == math.inf, "new inputs are drawn, and nothing computes their results"
    timed.worker.work = work
    assert timed.block(10.0).error < 1e-5, "these are too few numbers for the floor"


def test_slow_pass_is_charged_only_if_it_recurs(device: FakeDevice) -> None:
    detector = IdleDetector(device, torch.device("cpu"))

    def wait_with_slow_pass() -> float:
        device.busy_until = device.now + PASS / 2
        return detector.wait(1.0)

    assert wait_with_slow_pass() == 0, "the host delays a single pass now and then"
    assert detector.wait(1.0) == 0
    assert wait_with_slow_pass() == 0
    assert wait_with_slow_pass() >= PASS, "work that is put off until after each block is the student's"


def test_idle_or_noisy_device_adds_no_time(device: FakeDevice) -> None:
    detector = IdleDetector(device, torch.device("cpu"))
    assert detector.wait(1.0) == 0
    device.busy_until, device.slower = device.now + 5.0, 0.9 * BUSY
    assert detector.wait(1.0) == 0


def test_waiting_for_busy_device_adds_time(device: FakeDevice) -> None:
    detector = IdleDetector(device, torch.device("cpu"))
    began = device.now
    device.busy_until = device.now + 0.5
    assert 0.5 <= detector.wait(1.0) <= 0.5 + 3 * LOOK_SECONDS
    assert device.now - began >= 0.5


def test_wait_times_out_on_busy_device(device: FakeDevice) -> None:
    detector = IdleDetector(device, torch.device("cpu"))
    device.busy_until = device.now + 5.0
    with pytest.raises(TimedOut, match="the device was still running queued work"):
        detector.wait(1.0)
