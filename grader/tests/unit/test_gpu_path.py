"""Tests of the CUDA code path on a simulated device: synchronization, idleness, blocks, memory and device state."""

import math
import mmap
from collections.abc import Callable
from dataclasses import replace
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
from grader.tests.support.fake_device import FakeDevice, FakeWorker
from grader.tests.support.solution import SOLUTION
from torchkata.inside.assignment import Assignment
from torchkata.inside.reply import Reply
from torchkata.inside.speed.sizes import Size
from torchkata.inside.torch_internals import DispatchMode
from torchkata.seam.failures import Inconclusive, TimedOut

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
    with pytest.raises(TimedOut, match="the device was still running your queued work"):
        detector.wait(1.0)
