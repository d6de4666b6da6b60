"""Tests of the loop that alternates blocks of plain torch and of the student, for `pytest -m gpu` and the grader."""

import math
from dataclasses import dataclass, field

import pytest

from grader.tests.support.fake_device import FakeClock
from torchkata.course import Workload, course
from torchkata.inside.speed.device import Device
from torchkata.inside.speed.sizes import Kind, Size
from torchkata.inside.speed.workload import work_of
from torchkata.seam.failures import Crashed, Inconclusive, Place
from torchkata.speed import bench as benches
from torchkata.speed.bench import (
    DEMANDS,
    OPENING_BLOCKS,
    PATIENCE_SECONDS,
    SLOWEST,
    WARM_SECONDS,
    TimedBlock,
    block_length,
    measure,
)
from torchkata.speed.datasheets import devices

H100 = devices()["NVIDIA H100 80GB HBM3"]
SECONDS = 0.25  # of a block of plain torch


@dataclass
class FakeBench(FakeClock):
    """A bench on a simulated clock. `took` has one letter for each step: b and s start a side, B and S run a block."""

    student_seconds: float = SECONDS / 0.9
    student_error: float = 0.0
    baseline_error: float = 0.0
    kind: Kind = "cuda"
    device: Device | None = None
    workload: Workload = field(default_factory=lambda: course().workloads["linear_forward"])
    size: Size = field(default_factory=lambda: work_of("linear_forward").sizes["cuda"])
    calls: int = 20
    worked: float = -math.inf
    floor: float = 1e-3
    troubles: list[str] = field(default_factory=list)
    failure: Exception | None = None
    took: str = ""
    patience: float = 0.0

    def start_baseline(self) -> None:
        self.took += "b"

    def start_student(self, patience: float) -> None:
        self.took += "s"
        self.patience = patience

    def run_baseline(self) -> TimedBlock:
        self.took += "B"
        self.advance(SECONDS)
        return TimedBlock(SECONDS, self.baseline_error)

    def run_student(self) -> TimedBlock:
        self.took += "S"
        if self.failure is not None:
            raise self.failure
        self.advance(self.student_seconds)
        return TimedBlock(self.student_seconds, self.student_error)

    def trouble(self) -> str:
        return self.troubles.pop() if self.troubles else ""

    def close(self) -> None:
        self.took += "."


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> FakeBench:
    made = FakeBench()
    made.install(monkeypatch, benches)
    return made


def test_student_code_is_loaded_after_opening_blocks(bench: FakeBench) -> None:
    reading = measure(bench)
    assert (reading.verdict.outcome, reading.verdict.tier, reading.verdict.used) == ("passed", "full", 5)
    blocks = round(DEMANDS["cuda"].warm_up_seconds / SECONDS) + OPENING_BLOCKS
    assert bench.took == "b" + "B" * blocks + "sS" + "SB" * 5 + "."


def test_rate_and_mfu_use_fastest_baseline_block(bench: FakeBench) -> None:
    bench.device = H100
    reading = measure(bench)
    amount = work_of("linear_forward").amount(bench.size) * bench.calls
    assert reading.rate == pytest.approx(0.9 * amount / SECONDS)
    assert reading.mfu == pytest.approx(0.9 * amount / SECONDS / 989.4e12)
    assert (reading.thresholds.passing, reading.thresholds.full) == pytest.approx(
        (min(0.75, 0.5 * SECONDS * 989.4e12 / amount), min(0.9, 0.6 * SECONDS * 989.4e12 / amount))
    )


@pytest.mark.parametrize(("student", "baseline", "outcome"), [(1.3e-3, 1e-3, "passed"), (1.6e-3, 1e-3, "failed")])
def test_result_may_be_as_inexact_as_plain_torch(
    bench: FakeBench, student: float, baseline: float, outcome: str
) -> None:
    bench.student_error, bench.baseline_error = student, baseline
    reading = measure(bench)
    assert reading.verdict.outcome == outcome
    wrong = "the result is wrong: its relative error is 0.0016, and rounding explains only 0.0014"
    assert str(reading.verdict.note) == ("" if outcome == "passed" else wrong)
    assert bench.took.endswith("sSSB." if outcome == "failed" else "SBSB.")


def test_wrong_result_of_plain_torch_blames_no_student(bench: FakeBench) -> None:
    bench.baseline_error = math.inf
    with pytest.raises(Inconclusive, match="plain torch gave a wrong result on this device"):
        measure(bench)
    assert bench.took == "bB."
    bench.workload = course().workloads["adagrad_step"]
    bench.size = work_of("adagrad_step").sizes["cuda"]
    assert measure(bench).verdict.outcome == "passed", "this baseline computes something else"


def test_attempt_with_disturbance_is_repeated_with_new_workers(bench: FakeBench) -> None:
    bench.troubles = ["", "the device was too hot", ""]  # the first call of an attempt clears earlier problems
    reading = measure(bench)
    assert reading.verdict.outcome == "passed"
    first, second, rest = bench.took.split(".")
    assert rest == ""
    assert first.count("B") == second.count("B"), "another attempt must warm up the device again"
    bench.troubles = ["the device was too hot"] * 9
    assert measure(bench).verdict.outcome == "inconclusive"


def test_device_is_warmed_up_again_after_cooling_down(bench: FakeBench) -> None:
    def count_opening_blocks() -> int:
        bench.took = ""
        measure(bench)
        return bench.took.partition("s")[0].count("B")

    cold = count_opening_blocks()
    assert count_opening_blocks() == 1 + OPENING_BLOCKS < cold, "a warm device must not be warmed up again"
    bench.advance(WARM_SECONDS)
    assert count_opening_blocks() == cold


def test_sides_are_closed_if_student_code_fails(bench: FakeBench) -> None:
    bench.failure = Crashed("ValueError", Place())
    with pytest.raises(Crashed):
        measure(bench)
    assert bench.took.endswith("sS.")


def test_student_block_may_take_ten_times_the_limit(bench: FakeBench) -> None:
    measure(bench)
    passing = SECONDS / bench.workload.ratio["cuda"].passing
    assert bench.patience == pytest.approx(PATIENCE_SECONDS + SLOWEST * passing)


@pytest.mark.parametrize(
    ("once", "kind", "most", "expected"),
    [(0.02, "cuda", 100, (12, 1)), (0.001, "cuda", 2, (2, 50)), (0.001, "cpu", 2, (2, 1)), (9.0, "cuda", 5, (1, 1))],
)
def test_block_is_long_enough_and_fits_into_memory(
    once: float, kind: Kind, most: int, expected: tuple[int, int]
) -> None:
    assert block_length(once, kind, most) == expected
