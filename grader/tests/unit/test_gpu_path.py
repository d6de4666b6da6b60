"""What only a GPU would run, with a pretended one: calls to CUDA, blocks, memory, and what is watched."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.sandbox import cuda
from grader.speed import figures, rates, setup, timed_worker
from grader.speed.figures import STEPS, Figure, WrongResult
from grader.speed.machine import Machine
from grader.speed.rest import Rest
from grader.speed.state import DeviceState, StateUnknown
from grader.speed.timed_worker import SLACK, Done, Task, TimedWorker
from torchkata.course import course
from torchkata.seam.failures import Inconclusive
from torchkata.seam.reply import Reply
from torchkata.speed.datasheets import device
from torchkata.speed.decision import peak_on, thresholds_on
from torchkata.speed.sizes import Size
from torchkata.speed.workload import work_of

PATIENCE = 60.0  # seconds that a thread may take to have its turn


class HostMemory:
    """Stands in for memory of a device: the host's."""

    alive = 0

    def __init__(self, size: int) -> None:
        self.tensor = torch.zeros(size, dtype=torch.uint8)
        HostMemory.alive += 1

    def descriptor(self) -> int:
        """Some file's."""
        return os.open(os.devnull, os.O_RDONLY)

    def release(self) -> None:
        """Gone."""
        HostMemory.alive -= 1


class Host:
    """Stands in for a device: what is queued is done at once."""

    def __init__(self, free: Callable[[], int] = lambda: 0) -> None:
        self.free_bytes = free

    def memory(self, size: int, descriptor: int | None = None) -> HostMemory:
        """New memory: the grader maps no other."""
        assert descriptor is None
        return HostMemory(size)

    def synchronize(self) -> None:
        """Nothing is queued."""


def test_cuda_memory_is_described_as_torch_reads_it() -> None:
    described = cuda.Allocation(0x7F00, 12).__cuda_array_interface__
    assert described == {"shape": (12,), "typestr": "|u1", "data": (0x7F00, False), "version": 3}


class PretendedWorker:
    """A worker that goes on writing after it has answered, as a queue on a GPU does."""

    def __init__(self, *_: object) -> None:
        self.late: Callable[[], None] = lambda: None

    def start(self, _files: object) -> Tensor:
        return torch.zeros(2**16, dtype=torch.uint8)

    def lay_out(self, _order: object, _descriptor: int) -> Reply:
        return Reply("returned")

    def begin(self) -> Reply:
        return Reply("returned")

    def memory(self) -> None:
        pass

    def still(self) -> None:
        pass

    def block(self, _request: object, _seconds: float, settle: Callable[[], None]) -> Any:
        settle()
        self.late()
        return SimpleNamespace(reply=Reply("returned"), began=0.0, wall=1.0, own=0.25)

    def end(self) -> None:
        pass


def test_results_of_a_block_are_copied_before_the_clock_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.speed.timed_worker.PausedWorker", PretendedWorker)
    monkeypatch.setattr(Rest, "wait", lambda *_: 0.0)
    task = Task("linear_forward", "cuda", Size(batch=4, width=8, outputs=2), calls=2)
    timed = TimedWorker(None, setup.limits(), task, {}, Host())  # type: ignore[arg-type]
    worker: Any = timed.worker

    def too_late() -> None:
        for x, y in zip(timed.memory["x"], timed.memory["y"], strict=True):
            y.copy_(x @ timed.memory["weight"])

    worker.late = too_late
    done = timed.block(1.0)
    assert done.error == float("inf"), "what comes after the answer comes too late"
    assert done.seconds > 0.5, "a device's time is the clock's, not the process' own"
    assert not timed.memory["y"].isnan().any()
    timed.close()
    assert HostMemory.alive == 0


@pytest.mark.parametrize("files", [None, {}], ids=["baseline", "student"])
def test_the_graders_own_part_of_a_block_is_taken_off_on_both_sides(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes] | None
) -> None:
    monkeypatch.setattr("grader.speed.timed_worker.PausedWorker", PretendedWorker)
    monkeypatch.setattr(Rest, "wait", lambda *_: 0.0)
    task = Task("linear_forward", "cuda", Size(batch=4, width=8, outputs=2), calls=2, times=2)
    timed = TimedWorker(None, setup.limits(), task, files, Host())  # type: ignore[arg-type]
    seconds = iter([0.6, 0.2, 0.5])
    monkeypatch.setattr(timed, "settle", lambda: time.sleep(next(seconds, 0.2)))
    assert 1.0 < timed.block(10.0).seconds <= 1.6, "two turns of a second each, and of each the least that copying took"


def test_steps_that_memory_has_room_for_few_of_are_done_again_for_100_ms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on an H100: a step of 2²⁸ parameters takes a millisecond, and 20 GiB hold ten; one block is disturbed."""
    step = 0.0012
    blocks = iter([2 * step, 20 * step, 2 * step, 2 * step])
    worker = SimpleNamespace(block=lambda _: SimpleNamespace(seconds=next(blocks), error=0.0), close=lambda: None)
    monkeypatch.setattr(rates, "TimedWorker", lambda *_: worker)
    nothing: Any = None
    machine = Machine("cuda", "a GPU", None, 20 * 2**30, setup.limits(), nothing, nothing, lambda: "")
    task = rates.sized(machine, course().workloads["sgd_step"])
    assert task.calls == 10
    assert 0.1 <= task.calls * task.times * step < 0.12


STATE = DeviceState("NVIDIA H200", 132, "580", 700.0, 1980, 3201, 40, (), frozenset())


def test_a_device_is_watched_for_slowdowns_from_start_to_end() -> None:
    states = [replace(STATE, slowed_ns={"too hot (driver)": count}) for count in (5, 5, 10**9, 10**9)]
    watch = setup.Watch(lambda: states.pop(0))
    found = [watch.trouble() for _ in range(4)]
    assert found[0] == found[1] == found[3] == ""
    assert "the device slowed itself down: too hot (driver)" in found[2]
    assert "another process" in setup.Watch(lambda: replace(STATE, processes=frozenset({1}))).trouble()


def test_a_device_whose_state_is_unknown_is_trouble() -> None:
    def read() -> DeviceState:
        raise StateUnknown("nvidia-ml-py is not installed")

    assert setup.Watch(read).trouble() == "nvidia-ml-py is not installed"


def pretended_worker(
    error: float = 0.0,
    block: Callable[[Any], None] = lambda _: None,
    free: Callable[[], int] = lambda: 0,
    clock: Callable[[], float] = time.perf_counter,
) -> Any:
    """A side whose block does this to its memory."""
    task = Task("no_hidden_sync", "cuda", work_of("no_hidden_sync").sizes["cuda"], calls=STEPS)
    timed = SimpleNamespace(
        task=task,
        memory={"asked": torch.zeros(1, dtype=torch.int64)},
        check=SimpleNamespace(floor=0.1),
        free_before=2**33,
        accelerator=Host(free),
    )

    def run(_seconds: float) -> Done:
        began = clock()
        block(timed)
        return Done(clock() - began, error, Reply("returned"), began)

    timed.block = run
    return timed


@pytest.mark.parametrize(("first", "second", "ratio"), [(0.1, 0.3, 1.0), (0.3, 0.0, 0.0)])
def test_a_host_that_asks_for_its_last_batch_early_runs_ahead_of_the_device(
    first: float, second: float, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, looked, blocks = [0.0], threading.Event(), [0]

    def clock() -> float:
        found = now[0]
        if threading.current_thread() is not threading.main_thread():
            looked.set()
        return found

    def block(timed: Any) -> None:
        blocks[0] += 1
        if blocks[0] == 1:  # the one that does not count
            timed.memory["asked"][0] = STEPS
            return
        assert timed.memory["asked"][0] == 0
        looked.clear()
        now[0] += first
        timed.memory["asked"][0] = STEPS
        assert looked.wait(PATIENCE)
        now[0] += second

    monkeypatch.setattr(figures, "time", SimpleNamespace(perf_counter=clock))
    found = figures.lead_of_the_host(pretended_worker(block=block, clock=clock))
    assert found.ratio == ratio
    assert bool(found.note) == (ratio == 0)
    with pytest.raises(WrongResult):
        figures.lead_of_the_host(pretended_worker(error=1.0))


@pytest.mark.parametrize(("ratios", "outcome"), [([0.0, 0.0, 1.0], "passed"), ([0.0, 0.0, 0.0], "failed")])
def test_a_host_that_seems_to_wait_is_tried_again_in_a_fresh_process_before_it_fails(
    monkeypatch: pytest.MonkeyPatch, ratios: list[float], outcome: str
) -> None:
    began, ended = [0], [0]

    def begin(*_: object) -> Any:
        began[0] += 1
        return SimpleNamespace(close=lambda: ended.__setitem__(0, ended[0] + 1))

    left = iter(ratios)
    monkeypatch.setattr(figures, "TimedWorker", begin)
    monkeypatch.setattr(figures, "figure_of", lambda *_: lambda _: Figure(next(left), "it waits"))
    machine: Any = SimpleNamespace(kind="cuda", student=None, limits=None, accelerator=None)
    assert figures.measure(machine, course().workloads["no_hidden_sync"], {}).outcome == outcome
    assert (began, ended) == ([3], [3])


def test_the_peak_memory_of_a_device_is_seen_even_if_it_is_freed() -> None:
    free, looked = [2**33], threading.Event()

    def look() -> int:
        found = free[0]
        if found < 2**33:
            looked.set()
        return found

    def block(_side: Any) -> None:
        free[0] -= 2**32
        assert looked.wait(PATIENCE)
        free[0] += 2**32

    timed = pretended_worker(block=block, free=look)
    timed.task = replace(timed.task, workload="peak_memory", size=work_of("peak_memory").sizes["cuda"])
    found = figures.peak_of_the_device(timed)
    assert "4096 MiB held at most" in found.note
    assert 0 < found.ratio < 2


def test_what_torch_keeps_for_this_process_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (70, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 20)
    assert cuda.CUDA.free_bytes() == 90, "the buffers of a check are nobody else's"


def closing(
    monkeypatch: pytest.MonkeyPatch, left: int, back_after: float = float("inf"), files: dict[str, bytes] | None = None
) -> float:
    """End a worker that leaves so many bytes behind; how long that takes, where they come back after some seconds."""
    now, free = [0.0], [2**33]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        if now[0] >= back_after:
            free[0] = 2**33

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr(timed_worker, "PausedWorker", PretendedWorker)
    monkeypatch.setattr(timed_worker, "time", clock)
    task = Task("linear_forward", "cuda", Size(batch=4, width=8, outputs=2), calls=2)
    timed = TimedWorker(None, setup.limits(), task, files, Host(lambda: free[0]))  # type: ignore[arg-type]
    free[0] -= left
    timed.close()
    return now[0]


def test_the_memory_of_an_ended_worker_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert closing(monkeypatch, left=SLACK) == 0.0, "this process' own libraries take some, too"
    assert closing(monkeypatch, left=SLACK + 1, back_after=0.5) == pytest.approx(0.5, abs=0.1)


def test_memory_that_does_not_come_back_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    before = HostMemory.alive
    with pytest.raises(Inconclusive, match="the memory of an ended process has not come back"):
        closing(monkeypatch, left=2**30)
    assert closing(monkeypatch, left=2**30, files={}) > 0, "a student's verdict stands"
    assert HostMemory.alive == before


def test_mfu_thresholds_apply_only_to_devices_they_were_measured_on() -> None:
    workload = course().workloads["linear_forward"]
    for name, expected in (
        ("NVIDIA H100 80GB HBM3", (workload.mfu, 989.4e12)),
        ("NVIDIA A100-SXM4-80GB", (workload.ratio["cuda"], None)),
        ("something new", (workload.ratio["cuda"], None)),
    ):
        assert thresholds_on(device(name), "cuda", workload, torch.bfloat16) == expected
    assert peak_on(device("NVIDIA A100-SXM4-80GB"), torch.bfloat16) == 312e12
    assert peak_on(None, torch.bfloat16) is None
