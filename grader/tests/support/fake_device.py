"""A fake clock, a fake GPU and fake in-process workers for testing the real timing code of the grader."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor

from grader.sandbox.inside.cuda import CudaError
from grader.sandbox.inside.requests import WorkloadRequest
from grader.speed import idle
from torchkata.inside.reply import Reply
from torchkata.inside.speed.layout import lay_out
from torchkata.inside.speed.workload import work_of

PASS = 1.25 * idle.LOOK_SECONDS  # seconds of the idle detector's work on an idle device


class FakeClock:
    """A clock that advances only when a test advances it."""

    now = 0.0

    def read(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def install(self, monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
        """Replace the `time` module in the given modules."""
        fake = SimpleNamespace(perf_counter=self.read, monotonic=self.read, sleep=self.advance)
        for module in modules:
            monkeypatch.setattr(module, "time", fake)


class FakeDevice(FakeClock):
    """A fake device with host memory and its own clock. It records in `asked` the places in the code that call it.

    The first call from the place `fails` raises `CudaError`. A test sets `pending` when it queues work. `synchronize`
    resets `pending` and takes PASS seconds, or `slower` times as long before `busy_until`. `alive` counts the
    allocations that have not been released.
    """

    busy_until, slower = 0.0, 2.0

    def __init__(self, free: Callable[[], int] = lambda: 2**33, fails: str = "") -> None:
        self.free, self.fails = free, fails
        self.asked: dict[str, None] = {}
        self.alive = 0
        self.pending = False
        self.tensor = torch.empty(0)

    def install(self, monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
        """Replace `time` in the given modules and in the idle detector, and reduce the detector's work."""
        super().install(monkeypatch, idle, *modules)
        monkeypatch.setattr(idle, "PASS_BYTES", 8)

    def take_call(self) -> None:
        """Record the place of a call. Raises CudaError on the first call from the place `fails`."""
        called, caller, above = sys._getframe(1), sys._getframe(2), sys._getframe(3)
        lines = (f"line {frame.f_lineno} of {frame.f_code.co_name}" for frame in (caller, above))
        place = f"{called.f_code.co_name} at {', '.join(lines)}"
        new = place not in self.asked
        self.asked[place] = None
        if new and place == self.fails:
            raise CudaError("CUDA error: unspecified launch failure")

    def memory(self, size: int, descriptor: int | None = None) -> "FakeDevice":  # noqa: ARG002
        self.take_call()
        self.tensor = FakeWorker.device = torch.zeros(size, dtype=torch.uint8)
        self.alive += 1
        return self

    def descriptor(self) -> int:
        self.take_call()
        return os.open(os.devnull, os.O_RDONLY)

    def release(self) -> None:
        self.take_call()
        self.alive -= 1

    def synchronize(self) -> None:
        self.take_call()
        self.pending = False
        self.advance(PASS * (self.slower if self.now < self.busy_until else 1))

    def free_bytes(self) -> int:
        self.take_call()
        return self.free()


class FakeWorker:
    """A fake `PausedWorker` that runs plain torch and fails the `nth` time that worker `who` performs `step`.

    On failure, it returns or raises `fault`. A block calls `work`, waits until the device is idle, and calls `late`.
    """

    who, step, nth = "", "", 0
    fault: Any = None
    device: Tensor | None = None  # the memory that the grader allocated last
    seen: ClassVar[Counter[tuple[str, str]]] = Counter()

    def __init__(self, me: str, _limits: object) -> None:
        self.me = me
        self.arena = torch.zeros(2**20, dtype=torch.uint8)
        self.late: Callable[[], object] = lambda: None
        self.begin, self.demand_paused, self.end = (partial(self.take, step) for step in ("begin", "still", "end"))

    def take(self, step: str) -> Reply:
        self.seen[self.me, step] += 1
        if (self.me, step, self.seen[self.me, step]) != (self.who, self.step, self.nth):
            return Reply("returned")
        if isinstance(self.fault, Reply):
            return self.fault
        raise self.fault

    def start(self, _files: object) -> Tensor:
        self.take("start")
        return self.arena

    def lay_out(self, order: WorkloadRequest, _descriptor: int | None) -> Reply:
        work = work_of(order.workload)
        device = self.arena if self.device is None else self.device
        self.memory = lay_out(work.fields(order.size, order.calls), self.arena, device)
        self.work = work.baseline(order.size, self.memory, "cpu")
        return self.take("lay out")

    def block(self, _request: object, _seconds: float, settle: Callable[[], None]) -> Any:
        self.take("go")
        self.work()
        settle()
        self.late()
        return SimpleNamespace(reply=self.take("block"), wall=1.0, own=0.25)
