"""Tests of `python -m benchmarks.prove_gpu`: a dry run of all steps, and the output of a run with a failed step."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.prove_gpu import __main__ as prove_gpu
from benchmarks.prove_gpu import clock, permissions, steps
from benchmarks.prove_gpu.steps import Place, Say, Step
from grader.base.errors import MachineError
from grader.proof.cheats import load_cheats, load_slow
from grader.speed import ceilings, gpu, machine
from grader.tests.support.shared_gpu_memory import FAKE_GPU
from torchkata.course import course
from torchkata.speed import decision
from torchkata.speed.sizes import Size

pytestmark = pytest.mark.usefixtures("needs_bwrap")

Ran = Callable[..., tuple[int, str]]


@pytest.fixture
def run_steps(tmp_path: Path) -> Ran:
    """Run the command and return its exit code and report."""

    def main(*options: str) -> tuple[int, str]:
        path = tmp_path / "made" / "report.md"
        code = prove_gpu.main([*options, "--to", str(path)])
        return code, path.read_text("utf-8")

    return main


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the run to one workload, one slow solution, one cheat and short measurements."""
    every = list(course().katas.values())
    slow = next(iter(load_slow(every).values()))
    cheat = next(cheat for cheat in load_cheats(every) if cheat.slow.title == slow.title)
    monkeypatch.setattr(steps, "load_slow", lambda _: {slow.title: slow})
    monkeypatch.setattr(steps, "load_cheats", lambda _: [cheat])
    monkeypatch.setattr(steps, "list_workloads", lambda: [slow.workload])
    monkeypatch.setattr(steps, "AS_STUDENTS", (*steps.AS_STUDENTS, "--kata", "adagrad"))
    monkeypatch.setattr(steps, "TEAR_DOWNS", 1)
    monkeypatch.setattr(steps, "BUSY_PROCESSES", 1)
    monkeypatch.setattr(decision, "is_disturbed", lambda *_: False)  # other tests run in parallel
    monkeypatch.setattr(clock, "TURNS", 2)
    product, demands = Size(batch=4, width=8, outputs=4), machine.Demands(1e-4, 1e-4)
    small = {"PRODUCT": product, "ELEMENTS": 1000, "BLOCK_SECONDS": 1e-4, "DEMANDS": demands}
    for name, value in small.items():
        monkeypatch.setattr(ceilings, name, {"cpu": value})


@pytest.mark.timing
@pytest.mark.usefixtures("small", "driver")
def test_rehearsal_executes_every_step(run_steps: Ran, capfd: pytest.CaptureFixture[str]) -> None:
    code, report = run_steps("--device", "cpu")
    said, complained = capfd.readouterr()
    assert code == 0, said + complained + report
    for step in (*steps.MACHINE, *steps.TIMED):
        assert f"| {step.name} | {step.claim} | holds |" in report
        assert f"### {step.name}\n" in report
        assert f"{step.name}: holds (" in said
    for words in permissions.REMOVED.values():
        needed = "not needed here" if words == permissions.REMOVED[permissions.NETWORK] else "needed"
        (line,) = [line for line in report.splitlines() if line.startswith(f"| {words} |")]
        assert line.endswith(f": {needed} |")


def make_step(name: str, run: Callable[[Place, Say], None]) -> Step:
    return Step(name, f"what {name} claims", run)


def write_figure(_place: Place, say: Say) -> None:
    say("a figure")


def fail(_place: Place, say: Say) -> None:
    say("the last figure")
    raise steps.Failed("it is 7, not 8")


def lose_process(_place: Place, say: Say) -> None:
    say("the last figure")
    os._exit(1)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(("bad", "words"), [(fail, "it is 7, not 8"), (lose_process, prove_gpu.LOST)])
def test_failed_step_stops_run_and_writes_report(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    run_steps: Ran,
    bad: Callable[..., None],
    words: str,
) -> None:
    monkeypatch.setattr(
        prove_gpu,
        "MACHINE",
        (make_step("first", write_figure), make_step("second", bad), make_step("third", write_figure)),
    )
    code, report = run_steps("--device", "cpu")
    assert code == 1
    assert "| first | what first claims | holds |" in report
    assert f"| second | what second claims | **failed**: {words} |" in report
    assert "### second\n\nthe last figure\n" in report
    assert "third" not in report
    assert f"second: failed: {words} (" in capfd.readouterr().out


def test_sandbox_step_fails_if_sandbox_does_not_start(monkeypatch: pytest.MonkeyPatch, run_steps: Ran) -> None:
    def raise_error(*_: object) -> None:
        raise MachineError("no namespaces here")

    monkeypatch.setattr(prove_gpu, "MACHINE", (make_step("first", write_figure),))
    monkeypatch.setattr(prove_gpu, "run_with_sandbox", raise_error)
    code, report = run_steps("--device", "cpu")
    assert (code, f"| sandbox | {prove_gpu.SANDBOX.claim} | **failed**: no namespaces here |" in report) == (1, True)


def test_missing_device_error_suggests_remedy(monkeypatch: pytest.MonkeyPatch, run_steps: Ran) -> None:
    monkeypatch.setattr(gpu, "choose_gpu", lambda: "two processes are needed: nvidia-smi -c DEFAULT")
    code, report = run_steps()
    assert (code, report.count("\n### ")) == (1, 1)
    assert "**failed**: two processes are needed: nvidia-smi -c DEFAULT" in report


def test_driver_steps_fail_without_driver_or_memory(
    monkeypatch: pytest.MonkeyPatch, driver: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    place = Place("cpu", FAKE_GPU, driver)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(steps.Failed, match=r"in a worker cuInit and a first context returned OSError: libcuda\.so\.1"):
        steps.start_driver_in_sandbox(place, said.append)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    monkeypatch.setenv("FAKE_CUDA_FAILS", "cuMemMap")
    with pytest.raises(steps.Failed, match="cuMemMap failed with error 999"):
        steps.share_memory(place, said.append)


def test_step_waits_until_memory_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MAX_FREE_SECONDS", 0.05)
    monkeypatch.setattr(steps, "STEADY_SECONDS", 0.05)
    free = iter([0, 0, 5, 9])
    returned, seconds = steps.wait_for_memory(0, lambda: next(free, 9))
    assert (returned, 0 < seconds < 10) == (9, True)
    assert steps.wait_for_memory(9, lambda: 9) == (0, 0.0)


def test_clock_step_fails_if_clocks_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [clock.Turn(1.0, {"torch.utils.benchmark, processor time": 20.0})]
    monkeypatch.setattr(clock, "measure_turns", lambda *_: turns)
    place = Place("cpu", FAKE_GPU, sandbox=object())  # type: ignore[arg-type]
    with pytest.raises(steps.Failed, match=r"ratio to torch.utils.benchmark, processor time is 0\.050"):
        steps.compare_clocks(place, lambda _: None)
