"""The machine's fault is never the student's: every step fails once, and no point is lost."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.results.result import PerformanceResult
from grader.sandbox.cuda import CudaError
from grader.speed import grading, rates, session, setup
from grader.speed.decision import Final
from grader.speed.rates import Baseline
from grader.speed.session import Row, SpeedJob, grade_speed
from grader.speed.timed_worker import Task, TimedWorker
from torchkata.course import course
from torchkata.failures import Crashed, Died, Inconclusive, TimedOut
from torchkata.reply import Reply
from torchkata.speed.sizes import Kind, Size

WORKLOADS = tuple(course().workloads.values())[:4]
NAMES = [workload.name for workload in WORKLOADS]
TASK = Task("linear_forward", "cpu", Size(batch=4, width=8, outputs=2), calls=2)


def row(name: str) -> Row:
    """A workload that has passed."""
    return Row(PerformanceResult(name, "passed", 1.0, 1.0))


def rows_of(job: SpeedJob, kind: Kind) -> list[PerformanceResult]:
    """What is told of each workload, in a sandbox that is never asked for a worker."""
    sandbox: Any = SimpleNamespace(gpu=None)
    return [message.row for message in grade_speed(job, kind, sandbox) if isinstance(message, Row)]


def rounds_of(monkeypatch: pytest.MonkeyPatch, *rounds: list[str]) -> list[tuple[str, ...]]:
    """Let one process after the other tell of these workloads and end; what each was asked for is kept."""
    asked: list[tuple[str, ...]] = []

    def told(job: SpeedJob, *_: object) -> Iterator[Row]:
        asked.append(tuple(workload.name for workload in job.workloads))
        yield from map(row, rounds[len(asked) - 1])

    monkeypatch.setattr(session, "in_a_child", told)
    return asked


def test_a_lost_process_costs_one_workload_and_the_others_go_on_in_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *rest = NAMES
    asked = rounds_of(monkeypatch, [first], [], rest)
    rows = rows_of(SpeedJob("ada", {}, (), WORKLOADS), "cpu")
    assert [one.workload for one in rows] == NAMES
    assert [one.outcome for one in rows] == ["passed", "inconclusive", "passed", "passed"]
    assert "this is not your fault" in rows[1].message
    assert asked == [tuple(NAMES), (second, *rest), tuple(rest)]


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA error: unspecified\nmore"), CudaError("cuMemMap failed"), OSError()]
)
def test_an_error_of_the_graders_own_work_is_inconclusive_and_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def measure(_machine: object, workload: Any, _files: object) -> Any:
        if workload.name == NAMES[1]:
            raise error
        return SimpleNamespace(verdict=Final("failed"), thresholds=workload.ratio["cpu"], rate=None, mfu=None)

    monkeypatch.setattr(rates, "measure", measure)
    machine: Any = SimpleNamespace(kind="cpu", device=None)
    found = list(grading.grade(machine, WORKLOADS, {name: {} for name in NAMES}))
    assert [one.outcome for one in found] == ["failed", "inconclusive"]
    assert found[1].message.startswith(type(error).__name__)
    assert "more" not in found[1].message


def test_a_device_that_cannot_share_its_memory_is_not_graded_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def inline(work: Callable[[Callable[[bytes], None]], None], _seconds: float) -> list[bytes]:
        sent: list[bytes] = []
        work(sent.append)
        return sent

    monkeypatch.setattr(session, "messages", inline)
    monkeypatch.setattr(session, "connect", lambda _sandbox: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(setup, "missing", lambda _kind: "")
    monkeypatch.setattr(session, "lacking", lambda: "it has no virtual memory management")
    rows = rows_of(SpeedJob("ada", {}, (), WORKLOADS), "cuda")
    assert {(one.outcome, one.message) for one in rows} == {("not_graded", "it has no virtual memory management")}
    assert [one.workload for one in rows] == NAMES


class FaultyWorker:
    """A worker in which one step fails as it is told."""

    step = ""
    fault: Any = None

    def __init__(self, *_: object) -> None:
        pass

    def start(self, _files: object) -> Tensor:
        return torch.zeros(2**16, dtype=torch.uint8)

    def reply(self, step: str) -> Reply:
        if step != self.step:
            return Reply("returned")
        if isinstance(self.fault, Reply):
            return self.fault
        raise self.fault

    def lay_out(self, _order: object, _descriptor: int | None) -> Reply:
        return self.reply("lay out")

    def begin(self) -> Reply:
        return self.reply("begin")

    def block(self, *_: object) -> Any:
        return SimpleNamespace(reply=self.reply("block"), began=0.0, wall=1.0, own=1.0)

    def memory(self) -> None:
        pass

    def still(self) -> None:
        pass

    def end(self) -> None:
        pass


FAULTS = [Reply("raised", error="ValueError: x"), Died("it has ended"), TimedOut("no answer")]
EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS, ids=["raises", "dies", "hangs"])


@pytest.fixture
def with_fault(monkeypatch: pytest.MonkeyPatch) -> Callable[..., TimedWorker]:
    """A side whose worker fails in one step; nothing but that is pretended."""

    def make(step: str, fault: object, *, trusted: bool) -> TimedWorker:
        monkeypatch.setattr("grader.speed.timed_worker.PausedWorker", FaultyWorker)
        monkeypatch.setattr(FaultyWorker, "step", step)
        monkeypatch.setattr(FaultyWorker, "fault", fault)
        return TimedWorker(None, setup.limits(), TASK, None if trusted else {})  # type: ignore[arg-type]

    return make


@EVERY_FAULT
@pytest.mark.parametrize("trusted", [True, False])
def test_memory_that_cannot_be_mapped_is_nobodys_fault(
    with_fault: Callable[..., TimedWorker], fault: object, trusted: bool
) -> None:
    with pytest.raises(Inconclusive, match="a worker could not map its memory"):
        with_fault("lay out", fault, trusted=trusted)


@EVERY_FAULT
@pytest.mark.parametrize("step", ["begin", "block"])
def test_whatever_fails_in_the_baseline_is_nobodys_fault(
    with_fault: Callable[..., TimedWorker], fault: object, step: str
) -> None:
    with pytest.raises(Inconclusive, match="plain torch's own work failed"):
        with_fault(step, fault, trusted=True).block(1.0)


@EVERY_FAULT
@pytest.mark.parametrize("step", ["begin", "block"])
def test_what_fails_in_a_students_code_is_the_students(
    with_fault: Callable[..., TimedWorker], fault: object, step: str
) -> None:
    with pytest.raises((Crashed, Died, TimedOut)):
        with_fault(step, fault, trusted=False).block(1.0)


def test_a_baseline_that_is_wrong_is_never_a_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    done = SimpleNamespace(seconds=1.0, error=float("inf"))
    monkeypatch.setattr(rates, "TimedWorker", lambda *_: SimpleNamespace(block=lambda _seconds: done))
    baseline = Baseline(SimpleNamespace(baseline=None, limits=None, accelerator=None), TASK)  # type: ignore[arg-type]
    with pytest.raises(Inconclusive, match="plain torch's own result was wrong"):
        baseline.rate()
