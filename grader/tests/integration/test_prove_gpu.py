"""`python -m benchmarks.prove_gpu`: the whole of it as a rehearsal, and what a step that fails leaves behind."""

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
from grader.tests.support.gpu_plumbing import HERE
from torchkata.course import course
from torchkata.speed import decision
from torchkata.speed.sizes import Size

pytestmark = pytest.mark.usefixtures("needs_bwrap")

Ran = Callable[..., tuple[int, str]]


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    """The exit code, and the report."""

    def main(*options: str) -> tuple[int, str]:
        path = tmp_path / "made" / "report.md"
        code = prove_gpu.main([*options, "--to", str(path)])
        return code, path.read_text("utf-8")

    return main


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One workload, one slow solution, one cheat, a moment of each measurement."""
    every = list(course().katas.values())
    slow = next(iter(load_slow(every).values()))
    cheat = next(cheat for cheat in load_cheats(every) if cheat.slow.title == slow.title)
    monkeypatch.setattr(steps, "load_slow", lambda _: {slow.title: slow})
    monkeypatch.setattr(steps, "load_cheats", lambda _: [cheat])
    monkeypatch.setattr(steps, "list_workloads", lambda: [slow.workload])
    monkeypatch.setattr(steps, "AS_STUDENTS", (*steps.AS_STUDENTS, "--kata", "adagrad"))
    monkeypatch.setattr(steps, "TEAR_DOWNS", 1)
    monkeypatch.setattr(steps, "BUSY_PROCESSES", 1)
    monkeypatch.setattr(decision, "is_disturbed", lambda *_: False)  # tests run beside this one
    monkeypatch.setattr(clock, "TURNS", 2)
    monkeypatch.setattr(ceilings, "PRODUCT", {"cpu": Size(batch=4, width=8, outputs=4)})
    monkeypatch.setattr(ceilings, "ELEMENTS", {"cpu": 1000})
    monkeypatch.setattr(ceilings, "BLOCK_SECONDS", {"cpu": 1e-4})
    monkeypatch.setattr(ceilings, "DEMANDS", {"cpu": machine.Demands(1e-4, 1e-4)})


@pytest.mark.timing
@pytest.mark.usefixtures("small", "driver")
def test_every_step_is_taken_in_a_rehearsal(ran: Ran, capfd: pytest.CaptureFixture[str]) -> None:
    code, report = ran("--device", "cpu")
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


def step(name: str, run: Callable[[Place, Say], None]) -> Step:
    """One that claims nothing."""
    return Step(name, f"what {name} claims", run)


def says(_place: Place, say: Say) -> None:
    """A line of the report."""
    say("a figure")


def fails(_place: Place, say: Say) -> None:
    """A line of the report, and no more."""
    say("the last figure")
    raise steps.Failed("it is 7, not 8")


def is_lost(_place: Place, say: Say) -> None:
    """The process is gone."""
    say("the last figure")
    os._exit(1)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(("bad", "words"), [(fails, "it is 7, not 8"), (is_lost, prove_gpu.LOST)])
def test_a_step_that_fails_is_named_stops_the_rest_and_leaves_a_report(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], ran: Ran, bad: Callable[..., None], words: str
) -> None:
    monkeypatch.setattr(prove_gpu, "MACHINE", (step("first", says), step("second", bad), step("third", says)))
    code, report = ran("--device", "cpu")
    assert code == 1
    assert "| first | what first claims | holds |" in report
    assert f"| second | what second claims | **failed**: {words} |" in report
    assert "### second\n\nthe last figure\n" in report
    assert "third" not in report
    assert f"second: failed: {words} (" in capfd.readouterr().out


@pytest.mark.usefixtures("driver")
def test_a_sandbox_that_does_not_start_is_a_step_that_fails(monkeypatch: pytest.MonkeyPatch, ran: Ran) -> None:
    def breaks(*_: object) -> None:
        raise MachineError("no namespaces here")

    monkeypatch.setattr(prove_gpu, "MACHINE", (step("first", says),))
    monkeypatch.setattr(prove_gpu, "run_with_sandbox", breaks)
    code, report = ran("--device", "cpu")
    assert code == 1
    assert f"| sandbox | {prove_gpu.SANDBOX.claim} | **failed**: no namespaces here |" in report


def test_a_machine_without_a_device_fails_the_first_step_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    monkeypatch.setattr(gpu, "choose_gpu", lambda: "two processes are needed: nvidia-smi -c DEFAULT")
    code, report = ran()
    assert code == 1
    assert "**failed**: two processes are needed: nvidia-smi -c DEFAULT" in report
    assert report.count("\n### ") == 1


def test_steps_of_the_driver_fail_where_it_does_not_start_or_share_memory(
    monkeypatch: pytest.MonkeyPatch, driver: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    place = Place("cpu", HERE, driver)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(steps.Failed, match=r"in a worker cuInit and a first context returned OSError: libcuda\.so\.1"):
        steps.start_driver_in_sandbox(place, said.append)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
    monkeypatch.setenv("FAKE_CUDA_FAILS", "cuMemMap")
    with pytest.raises(steps.Failed, match="cuMemMap failed with error 999"):
        steps.share_memory(place, said.append)


def test_memory_that_does_not_come_back_is_waited_for_and_then_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MAX_FREE_SECONDS", 0.05)
    monkeypatch.setattr(steps, "STEADY_SECONDS", 0.05)
    free = iter([0, 0, 5, 9])
    returned, seconds = steps.wait_for_memory(0, lambda: next(free, 9))
    assert (returned, 0 < seconds < 10) == (9, True)
    assert steps.wait_for_memory(9, lambda: 9) == (0, 0.0)


def test_a_clock_that_says_something_else_fails_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [clock.Turn(1.0, {"torch.utils.benchmark, processor time": 20.0})]
    monkeypatch.setattr(clock, "measure_turns", lambda *_: turns)
    place = Place("cpu", HERE, sandbox=object())  # type: ignore[arg-type]
    with pytest.raises(steps.Failed, match=r"ratio to torch.utils.benchmark, processor time is 0\.050"):
        steps.compare_clocks(place, lambda _: None)
