"""On a simulated GPU, the solution earns full points despite hiccups of the machine, and cheats earn nothing.

Student code runs in this process. Its time is not measured: the simulated clock advances by what the solution takes on
an H100 (docs/evidence/thresholds.md), and by hiccups that are drawn with a fixed seed. `test_speed_faults.py` has the
cheat that takes all memory.
"""

import math
import random
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, TypeAlias, cast

import pytest
import torch

from grader.results.result import PerformanceResult
from grader.sandbox.inside.requests import WorkloadRequest
from grader.speed import timed_worker, timed_workloads, timing_device, worker_bench
from grader.speed.machine import Machine
from grader.tests.support.cheats import load_cheats, load_slow, replace_kata
from grader.tests.support.fake_device import PASS, FakeDevice, FakeWorker
from grader.tests.support.solution import SOLUTION
from torchkata.course import course
from torchkata.inside.assignment import Assignment
from torchkata.inside.reply import Reply
from torchkata.inside.speed.sizes import Size
from torchkata.inside.speed.workload import work_of
from torchkata.speed import bench as benches
from torchkata.speed.bench import DEMANDS

RUNS = 20
SLOW_PASS = 0.1  # probability that this process is delayed while it waits for the device
SLOW_BLOCK, SLOWER = 0.1, 1.5  # probability that a block takes longer, and how many times as long
LOW_CLOCK, LOWER, STRETCH = 0.02, 1.1, 4  # probability that the next blocks are slower, how much, and how many blocks
TROUBLE = 0.02  # probability that the device reports a slowdown after a few blocks


@dataclass(frozen=True)
class OnDevice:
    """A small size, the number of calls that fit into memory, and the speed on a GPU."""

    size: Size
    most: int
    seconds: float  # of a call of the baseline
    ratio: float  # of the solution's rate to the baseline's


WORKLOADS = {
    "linear_forward": OnDevice(Size(batch=64, width=64, outputs=32), 4, 0.06, 0.98),
    "cruncher_step": OnDevice(Size(batch=64, width=64, layers=2, rate=2.7), 4, 0.06, 0.92),
    "train_throughput": OnDevice(Size(batch=16, width=64, layers=1, rate=0.05), 4, 0.06, 0.92),
    "sgd_step": OnDevice(Size(parameters=2048, rate=0.1), 2, 0.004, 1.00),
    "adagrad_step": OnDevice(Size(parameters=2048, rate=0.1), 2, 0.005, 0.45),
    "get_batch_throughput": OnDevice(Size(batch=16, sequence=24, tokens=5000, width=64), 4, 0.06, 1.00),
}
IN_BFLOAT16 = Size(batch=256, width=256, layers=4, rate=53.0, dtype="bfloat16")


class RestlessDevice(FakeDevice):
    """A simulated device on which this process, single blocks and longer stretches are delayed at random."""

    def __init__(self, seed: int | None) -> None:
        super().__init__()
        self.draw = random.Random(seed)
        self.share = 0.0 if seed is None else 1.0
        self.stretch = 0  # number of blocks for which the clock is still low

    def happens(self, probability: float) -> bool:
        """Return whether a hiccup of this probability happens now."""
        return self.draw.random() < probability * self.share

    def synchronize(self) -> None:
        super().synchronize()
        if self.happens(SLOW_PASS):
            self.advance(self.draw.uniform(0.5, 3.0) * PASS)

    def run(self, seconds: float) -> None:
        """Advance the clock by a block of work."""
        self.stretch = STRETCH if self.happens(LOW_CLOCK) else max(0, self.stretch - 1)
        self.advance(seconds * (SLOWER if self.happens(SLOW_BLOCK) else 1.0) * (LOWER if self.stretch else 1.0))

    def trouble(self) -> str:
        return "the device slowed itself down" if self.happens(TROUBLE) else ""


class StudentWorker(FakeWorker):
    """A fake worker that runs student code, with its own `torch.mm`, and whose blocks take time on the device."""

    folder: ClassVar[Path] = SOLUTION
    clock: ClassVar[RestlessDevice] = RestlessDevice(None)

    def lay_out(self, order: WorkloadRequest, descriptor: int | None) -> Reply:
        reply = super().lay_out(order, descriptor)
        self.seconds = WORKLOADS[order.workload].seconds * order.calls
        self.product = torch.mm
        if not order.trusted:
            work = work_of(order.workload)
            self.seconds *= work.amount(order.size) / work.baseline_amount(order.size)
            self.seconds /= WORKLOADS[order.workload].ratio
            with self.own_process():
                self.work = work.student(Assignment(self.folder), order.size, self.memory, "cpu")
        return reply

    @contextmanager
    def own_process(self) -> Iterator[None]:
        """Let code see the `torch.mm` of its own process."""
        ours, torch.mm = torch.mm, self.product
        try:
            yield
        finally:
            self.product, torch.mm = torch.mm, ours

    def block(self, _request: object, _seconds: float, settle: Callable[[], None]) -> Any:
        began = self.clock.now
        with self.own_process():
            self.work()
        self.clock.run(self.seconds)
        settle()
        return SimpleNamespace(reply=Reply("returned"), wall=self.clock.now - began, own=math.nan)


Grade: TypeAlias = Callable[..., dict[str, PerformanceResult]]


@pytest.fixture
def grade(monkeypatch: pytest.MonkeyPatch) -> Grade:
    """Return a function that grades the workloads on a simulated GPU. Hiccups and inputs depend on the seed."""

    def graded(device: RestlessDevice, workloads: Iterable[str] = WORKLOADS, folder: Path = SOLUTION) -> Any:
        device.install(monkeypatch, timed_worker, timed_workloads, benches)
        monkeypatch.setattr(StudentWorker, "clock", device)
        monkeypatch.setattr(StudentWorker, "folder", folder)
        student, baseline = cast("Any", ("student", "baseline"))
        limits = timing_device.get_limits()
        machine = Machine("cuda", "a GPU", None, 2**33, limits, student, baseline, device.trouble)
        machine = replace(machine, accelerator=cast("Any", device))
        chosen = [course().workloads[name] for name in workloads]
        return {row.workload: row for row in timed_workloads.grade(machine, chosen, {name: {} for name in workloads})}

    monkeypatch.setattr(timed_worker, "PausedWorker", StudentWorker)
    monkeypatch.setattr(FakeWorker, "device", None)
    most = {type(work_of(name)): workload.most for name, workload in WORKLOADS.items()}
    monkeypatch.setattr(worker_bench, "fit", lambda work, size, _room: (size, most[type(work)]))
    monkeypatch.setitem(DEMANDS, "cuda", replace(DEMANDS["cuda"], warm_up_seconds=0.5))
    for name, workload in WORKLOADS.items():
        monkeypatch.setattr(type(work_of(name)), "sizes", {"cuda": workload.size})
    return graded


@pytest.mark.parametrize("seed", range(RUNS))
def test_solution_earns_full_points_despite_hiccups(grade: Grade, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    inputs = random.Random(seed)
    monkeypatch.setattr(secrets, "randbits", inputs.getrandbits)
    monkeypatch.setattr(secrets, "randbelow", inputs.randrange)
    torch.manual_seed(seed)
    rows = grade(RestlessDevice(seed))
    assert {name: row.score for name, row in rows.items()} == {
        name: course().workloads[name].points.full for name in WORKLOADS
    }, [f"{row.workload}: {row.outcome}, {row.ratio}, {row.message}" for row in rows.values()]


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    "title", ["less_work/in_int8", "less_work/leaves_out_the_product", "less_work/powers_of_the_factor"]
)
def test_cheat_with_less_work_earns_nothing(
    grade: Grade, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, title: str
) -> None:
    monkeypatch.setattr(type(work_of("cruncher_step")), "sizes", {"cuda": IN_BFLOAT16})
    (cheat,) = [cheat for cheat in load_cheats() if cheat.title == title]
    slow = load_slow()[cheat.slow]
    solution = course().solutions()[f"{slow.kata}.py"].decode()
    right = write(tmp_path / "right", replace_kata(slow.kata, f"{solution}\n\n{cheat.control}"))
    wrong = write(tmp_path / "wrong", slow.make_files(cheat.cheat))
    name = slow.workload.name
    (row,) = grade(RestlessDevice(None), [name], right).values()
    assert (row.outcome, row.score) == ("passed", slow.workload.points.full), row.message
    (row,) = grade(RestlessDevice(None), [name], wrong).values()
    assert (row.outcome, row.score, row.counts) == ("failed", 0, True), row.message
    assert "the result is wrong" in row.message


def test_work_that_waits_for_inputs_earns_nothing(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    """`elsewhere/armed_on_the_device` needs a GPU. Here, writing the inputs starts the student's work."""
    device, check, armed = RestlessDevice(None), work_of("linear_forward").check, list[StudentWorker]()
    write_inputs, usual = check.refresh, StudentWorker.block

    def refresh(self: Any) -> None:
        write_inputs(self)
        for worker in armed:
            if worker.memory["x"].data_ptr() == self.memory["x"].data_ptr():
                worker.work()
                device.busy_until = device.now + worker.seconds

    def block(self: StudentWorker, *args: Any) -> Any:
        if self.me == "baseline":
            return usual(self, *args)
        armed[:] = [self]
        return SimpleNamespace(reply=Reply("returned"), wall=0.0, own=0.0)

    monkeypatch.setattr(check, "refresh", refresh)
    monkeypatch.setattr(StudentWorker, "block", block)
    (row,) = grade(device, ["linear_forward"]).values()
    assert (row.outcome, row.score, row.counts) == ("crashed", 0, True)
    assert row.message == "your code used the device before its block began"
