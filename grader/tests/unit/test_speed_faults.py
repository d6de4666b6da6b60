"""Tests of faults during timing: machine faults cost no points, regardless of where they occur."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeAlias, cast
from unittest.mock import Mock

import pytest
import torch

from grader.results.result import PerformanceResult
from grader.sandbox.inside.cuda import CudaError
from grader.speed import smoke_test, timed_submission, timed_workloads, timing_device
from grader.speed.machine import Machine
from grader.speed.timed_submission import Row, SpeedJob, grade_speed
from grader.speed.timed_worker import Task
from grader.speed.worker_bench import WorkerBench
from grader.tests.support.fake_device import FakeDevice, FakeWorker
from torchkata.course import course
from torchkata.inside.reply import Reply
from torchkata.inside.speed.sizes import Size
from torchkata.inside.speed.workload import work_of
from torchkata.inside.text import Text
from torchkata.seam.failures import Died, Inconclusive, TimedOut
from torchkata.speed import bench as benches
from torchkata.speed.bench import DEMANDS, Reading
from torchkata.speed.decision import Final
from torchkata.speed.memory import NoRoom

WORKLOADS = tuple(course().workloads.values())[:4]
NAMES = [workload.name for workload in WORKLOADS]


def test_lost_process_affects_only_one_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *rest = NAMES
    rounds, asked = [[first], [], rest], list[list[str]]()  # the workloads that each process reports and should grade

    def grade_some(job: SpeedJob, *_: object) -> Iterator[Row]:
        asked.append([workload.name for workload in job.workloads])
        yield from (Row(PerformanceResult(name, "passed", 1.0, 1.0)) for name in rounds[len(asked) - 1])

    monkeypatch.setattr(timed_submission, "grade_in_child", grade_some)
    sandbox: Any = SimpleNamespace(gpu=None)
    messages = grade_speed(SpeedJob("ada", {}, (), WORKLOADS), "cpu", sandbox)
    rows = [message.row for message in messages if isinstance(message, Row)]
    assert [one.workload for one in rows] == NAMES
    assert [one.outcome for one in rows] == ["passed", "inconclusive", "passed", "passed"]
    assert "you lose no points" in rows[1].message
    assert asked == [NAMES, [second, *rest], rest]


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA error: unspecified\nmore"), CudaError("cuMemMap failed"), OSError()]
)
def test_grader_error_is_inconclusive_and_terminates_process(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def measure(bench: WorkerBench) -> Reading:
        if bench.workload.name == NAMES[1]:
            raise error
        return Reading(Final("failed"), bench.workload.ratio["cpu"])

    monkeypatch.setattr(timed_workloads, "measure", measure)
    monkeypatch.setattr(timed_workloads, "choose_task", lambda _, workload: Task(workload.name, "cpu", Size(), 1))
    machine: Any = SimpleNamespace(kind="cpu", device=None)
    found = list(timed_workloads.grade(machine, WORKLOADS, {name: {} for name in NAMES}))
    assert [one.outcome for one in found] == ["failed", "inconclusive"]
    assert found[1].message.startswith(type(error).__name__)
    assert "more" not in found[1].message


OTHERS = "another process uses the device"


@pytest.mark.parametrize(
    ("lacking", "trouble", "words"),
    [
        ("it has no virtual memory management", OTHERS, "it has no virtual memory management"),
        (CudaError("cuInit failed"), "", f"{smoke_test.BROKEN}: CudaError: cuInit failed"),
        (RuntimeError("CUDA error\nmore"), "", f"{smoke_test.BROKEN}: RuntimeError: CUDA error"),
        (Inconclusive("no worker"), "", f"{smoke_test.BROKEN}: no worker"),
        ("", OTHERS, OTHERS),
        ("", "", ""),
    ],
)
def test_block_is_timed_only_on_device_without_fault(
    monkeypatch: pytest.MonkeyPatch, lacking: str | BaseException, trouble: str, words: str
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(timing_device, "find_missing", lambda _kind: "")
    monkeypatch.setattr(timing_device, "open_machine", lambda *_: SimpleNamespace(trouble=lambda: trouble))
    monkeypatch.setattr(smoke_test, "time_one_block", begun.append)
    monkeypatch.setattr(smoke_test, "lacking", Mock(side_effect=[lacking]))
    here: Any = None
    assert smoke_test.find_first_fault("cuda", here, here) == words
    assert bool(begun) == (words == ""), "a block may be timed only on a device without a known fault"


SIZES = {
    "linear_forward": Size(batch=64, width=64, outputs=32),
    "sgd_step": Size(parameters=2048, rate=0.1),
    "train_throughput": Size(batch=16, width=64, layers=1, rate=0.05),
}
ALL = [course().workloads[name] for name in SIZES]
BOTH = ALL[:2]
GONE = Inconclusive("the process that starts workers has ended")
FAULTS = [Reply("raised", error="ValueError: x"), Died("it has ended"), TimedOut("no answer")]


@pytest.fixture
def grade(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Return a function that grades workloads (two on a CPU, three on a GPU) with fake workers and injects a fault."""
    monkeypatch.setattr("grader.speed.timed_worker.PausedWorker", FakeWorker)
    monkeypatch.setattr(FakeWorker, "seen", Counter())
    monkeypatch.setattr(FakeWorker, "device", None)
    monkeypatch.setattr(benches, "OWN_MARGIN", 100.0)
    for kind in DEMANDS:
        monkeypatch.setitem(DEMANDS, kind, replace(DEMANDS[kind], warm_up_seconds=0.0))
    for name, size in SIZES.items():
        monkeypatch.setattr(type(work_of(name)), "sizes", {"cpu": size, "cuda": size})

    def graded(who: str = "", step: str = "", nth: int = 0, fault: object = None, device: Any = None) -> dict[str, str]:
        for name, value in {"who": who, "step": step, "nth": nth, "fault": fault}.items():
            monkeypatch.setattr(FakeWorker, name, value)
        student, baseline = cast("Any", ("student", "baseline"))
        machine = Machine("cpu", "a CPU", None, 2**20, timing_device.get_limits(), student, baseline, lambda: "")
        if device is not None:
            device.install(monkeypatch)
            machine = replace(machine, kind="cuda", accelerator=device, room=2**33)
        workloads = BOTH if device is None else ALL
        rows = timed_workloads.grade(machine, workloads, {name: {} for name in SIZES})
        return {row.workload: row.outcome for row in rows}

    return graded


Outcomes: TypeAlias = Callable[..., dict[str, str]]
NTH = pytest.mark.parametrize("nth", [1, 2])


@NTH
@pytest.mark.parametrize("who", ["student", "baseline"])
@pytest.mark.parametrize(
    ("step", "fault"), [(step, GONE) for step in ("start", "end")] + [("lay out", fault) for fault in FAULTS]
)
def test_worker_startup_and_exit_faults_cost_no_points(
    grade: Outcomes, who: str, step: str, fault: object, nth: int
) -> None:
    assert sorted(grade(who, step, nth, fault).values()) == ["inconclusive", "passed"]


@pytest.mark.parametrize("fault", FAULTS, ids=["raises", "dies", "hangs"])
@pytest.mark.parametrize("who", ["student", "baseline"])
@pytest.mark.parametrize(("step", "nth"), [("begin", 1), ("begin", 2), ("begin", 4), ("block", 1), ("block", 9)])
def test_only_faults_of_student_code_cost_points(grade: Outcomes, fault: object, who: str, step: str, nth: int) -> None:
    ends = "timed_out" if isinstance(fault, TimedOut) else "crashed"
    expected = ["inconclusive", "passed"] if who == "baseline" else sorted([ends, "passed"])
    if (who, step, nth) == ("student", "begin", 4):  # each workload starts one worker for the student
        expected = ["passed", "passed"]
    assert sorted(grade(who, step, nth, fault).values()) == expected


@NTH
@pytest.mark.parametrize("step", ["prepare", "begun", "refresh", "error"])
def test_new_process_is_started_after_failed_grader_step(
    grade: Outcomes, monkeypatch: pytest.MonkeyPatch, step: str, nth: int
) -> None:
    check, count = work_of("linear_forward").check, Counter[str]()
    usual = getattr(check, step)

    def fail_once(self: object) -> Any:
        count[step] += 1
        if count[step] == nth:
            raise RuntimeError("CUDA error: unspecified launch failure")
        return usual(self)

    monkeypatch.setattr(check, step, fail_once)
    assert grade() == {"linear_forward": "inconclusive"}, "this process must not grade the remaining workloads"


def test_failing_device_queries_cost_no_points(grade: Outcomes) -> None:
    whole = FakeDevice()
    assert set(grade(device=whole).values()) == {"passed"}
    methods = {"memory", "descriptor", "release", "synchronize", "free_bytes"}
    assert {place.split()[0] for place in whole.asked} == methods
    for place in whole.asked:
        found = grade(device=FakeDevice(fails=place))
        assert "inconclusive" in found.values(), place
        assert set(found.values()) <= {"inconclusive", "passed"}, place


def test_smoke_test_reports_a_lost_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smoke_test, "run_on_device", lambda *_: iter(()))
    sandbox: Any = None
    assert smoke_test.run_smoke_test("cpu", sandbox) == f"{smoke_test.BROKEN}: the timing process died or hung"


def test_workload_is_inconclusive_if_baseline_runs_while_paused(grade: Outcomes) -> None:
    assert sorted(grade("baseline", "still", 9, Died("it went on working")).values()) == ["inconclusive", "passed"]


@pytest.mark.parametrize(("taken", "outcome"), [(2**32, "crashed"), (2**20, "inconclusive")])
@pytest.mark.parametrize("step", ["begun", "refresh", "error"])
def test_student_who_takes_all_memory_loses_the_points(
    grade: Outcomes, monkeypatch: pytest.MonkeyPatch, step: str, taken: int, outcome: str
) -> None:
    """Otherwise, code that leaves no memory for the check would not count instead of being wrong."""
    check, free = work_of("linear_forward").check, [2**33]
    usual, count = getattr(check, step), Counter[str]()

    def fail_after_begin(self: object) -> Any:
        count[step] += 1
        if FakeWorker.seen["student", "begin"] and free[0] == 2**33:
            free[0] -= taken
            raise torch.OutOfMemoryError("CUDA out of memory")
        return usual(self)

    monkeypatch.setattr(check, step, fail_after_begin)
    device = FakeDevice(lambda: 2**33 if FakeWorker.seen["student", "end"] else free[0])
    assert grade(device=device)["linear_forward"] == outcome


def test_workload_that_does_not_fit_is_not_graded(grade: Outcomes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "grader.speed.worker_bench.fit", Mock(side_effect=NoRoom(Text("needs 9.0 GiB of device memory")))
    )
    assert set(grade(device=FakeDevice()).values()) == {"not_graded"}
