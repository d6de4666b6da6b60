"""Tests of `python -m benchmarks.prove_gpu`: its rehearsal, failing or hanging steps, a second run, and the bundle."""

import ast
import importlib
import json
import math
import re
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from benchmarks.prove_gpu import __main__ as prove_gpu
from benchmarks.prove_gpu import bundle, clock, place, report, run, sandbox_trials, steps, torch_only
from benchmarks.prove_gpu.__main__ import STEPS, Step
from benchmarks.prove_gpu.report import DONE, SO_FAR
from grader.sandbox.mounts import IsolationError
from grader.tests.conftest import get_environment, run_program
from grader.tests.support.fake_device import FakeClock
from torchkata.inside.speed.sizes import PRODUCT
from torchkata.seam.failures import TimedOut

FIGURE = "print('{\"figure\": 7}', flush=True)\n"
BROKEN = {  # the code of a step and its expected outcome
    "fails": ("import sys; sys.exit('it is 7, not 8')", "failed", "it is 7, not 8"),
    "hangs": (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
        "timed out",
        prove_gpu.TIMED_OUT,
    ),
    "crashes": ("import os; os.abort()", "crashed", "signal SIGABRT"),
    "leaves a process behind": (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-Sc', 'import time; time.sleep(600)'])",
        "holds",
        "",
    ),
    "lacks a package": ("import missing_package", "lacking", "ModuleNotFoundError: No module named 'missing_package'"),
    "lacks something": ("import sys; print('no GPU', file=sys.stderr); sys.exit(3)", "lacking", "no GPU"),
    "has too little time": ("import sys; print('1 of 8 tried', file=sys.stderr); sys.exit(4)", SO_FAR, "1 of 8 tried"),
}
Ran = Callable[..., tuple[int, dict[str, dict[str, Any]], str]]


@dataclass(frozen=True)
class FakeStep(Step):
    """A step that runs the given code."""

    code: str = FIGURE

    def build_command(self, kind: str, seconds: float, extent: str) -> list[str]:  # noqa: ARG002
        return ["-S", "-c", self.code]


@pytest.fixture
def prove(tmp_path: Path) -> Ran:
    """Run the command and return its exit code, the outcomes by step, and the report."""

    def prove(*options: str, steps: Sequence[Step] = STEPS) -> tuple[int, dict[str, dict[str, Any]], str]:
        path = tmp_path / "made" / "report.md"
        code = prove_gpu.main(["--device", "cpu", "--to", str(path), *options], steps)
        found = json.loads(path.with_suffix(".json").read_text("utf-8"))["outcomes"]
        return code, {each["name"]: each for each in found}, path.read_text("utf-8")

    return prove


@pytest.mark.usefixtures("needs_bwrap", "driver")
def test_rehearsal_executes_every_step(prove: Ran, capfd: pytest.CaptureFixture[str]) -> None:
    code, found, report = prove("--quick", "--minutes", "60")  # on a busy machine, steps take longer
    said = capfd.readouterr().out
    assert code == 0, said + report
    for step in STEPS:
        assert found[step.name]["outcome"] == "holds", report
        assert f"## {step.name}\n" in report
        assert f"| {step.name} | {step.claim} | holds |" in report


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_step_does_not_stop_other_steps(prove: Ran, broken: str) -> None:
    code, outcome, reason = BROKEN[broken]
    exit_code, found, report = prove(
        steps=[
            FakeStep("first", "a claim", 1),
            FakeStep("second", "a claim", 1, 0.5, code=FIGURE + code),
            FakeStep("third", "a claim", 1),
        ]
    )
    assert exit_code == (3 if outcome == SO_FAR else outcome not in DONE)
    for name, expected in {"first": ("holds", ""), "second": (outcome, reason), "third": ("holds", "")}.items():
        assert (found[name]["outcome"], found[name]["reason"]) == expected
        assert f"## {name}\n\n\n| figure |\n|---|\n| 7 |\n" in report


def test_run_finishes_even_if_every_step_hangs(prove: Ran) -> None:
    code, found, _ = prove(
        "--minutes", "0.02", steps=[FakeStep(s.name, s.claim, 1, code=BROKEN["hangs"][0]) for s in STEPS]
    )
    assert code == 1
    assert {each["outcome"] for each in found.values()} == {"timed out"}


def test_step_skips_items_that_exceed_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_clock, left = FakeClock(), place.StepSettings("cpu", 8.5, quick=True)
    fake_clock.install(monkeypatch, place)
    for seconds in left.take_in_time([2.0, 3.0, 1.0, 1.0], 4, "items"):
        fake_clock.advance(seconds)
    assert fake_clock.now == 6.0, "there is no time for another item that takes 3 s"
    assert left.unfinished == ["3 of 4 items tried"]
    assert [*left.take_in_time([1.0], 1, "more items")] == [], "the earlier ones took 3 s"
    assert left.unfinished == ["3 of 4 items tried", "0 of 1 more items tried"]
    assert [*replace(left, until=60.0).take_in_time([1.0], 1, "last items")] == [1.0]
    assert len(left.unfinished) == 2


@pytest.mark.parametrize(
    ("unfinished", "error", "code", "words"),
    [
        ([], None, 0, ""),
        (["3 of 67 cheats tried"], None, torch_only.UNFINISHED, "3 of 67 cheats tried"),
        (["3 of 67 cheats tried"], place.Failed("it is 7"), "it is 7", ""),
        (["3 of 67 cheats tried"], place.Lacking("no GPU"), steps.LACKING, "no GPU"),
    ],
)
def test_step_holds_only_if_everything_was_tried(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    unfinished: list[str],
    error: Exception | None,
    code: object,
    words: str,
) -> None:
    def step(settings: place.StepSettings) -> None:
        settings.unfinished.extend(unfinished)
        if error:
            raise error

    monkeypatch.setitem(steps.STEPS, "cheats", step)
    monkeypatch.setattr("os.dup2", lambda *_: None)
    monkeypatch.setattr(torch_only, "OUT", None)
    found: object = 0
    try:
        steps.main("cheats", "cuda", "60", "whole")
    except SystemExit as end:
        found = end.code
    assert (found, capsys.readouterr().err.strip()) == (code, words)


def test_second_run_repeats_only_unsuccessful_steps(prove: Ran) -> None:
    first, second = (FakeStep(name, "a claim", 1) for name in ("first", "second"))
    failing = FakeStep("second", "a claim", 1, code=BROKEN["fails"][0])
    code, before, _ = prove(steps=[first, failing])
    assert (code, before["second"]["outcome"]) == (1, "failed")
    code, after, _ = prove(steps=[FakeStep("first", "a claim", 1, code=BROKEN["crashes"][0]), second])
    assert (code, after["first"]) == (0, before["first"])
    assert after["second"]["outcome"] == "holds"
    code, other, _ = prove("--only", "second", "--again", steps=[first, failing])
    assert (code, other["first"], other["second"]["outcome"]) == (1, before["first"], "failed")
    assert prove("--quick", steps=[failing])[0] == 1, "another run is not continued"


def test_interrupted_run_leaves_complete_report(prove: Ran, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(prove_gpu, "end_process", interrupt)
    with pytest.raises(KeyboardInterrupt):
        prove(steps=[FakeStep("first", "a claim", 1)])
    (stored,) = json.loads((tmp_path / "made/report.json").read_text())["outcomes"]
    assert (stored["outcome"], stored["lines"]) == ("stopped", [{"figure": 7}])


def test_report_ends_with_table_for_evidence(tmp_path: Path) -> None:
    about = {"devices": "GPU 0: NVIDIA H200 (UUID: GPU-1-2)", "torch": "2.13.0"}
    made = report.Report(tmp_path / "report.md", about, {"first": "a | b", "second": "a claim", "third": "a claim"})
    made.outcomes["first"] = report.StepOutcome(
        "first", "a | b", "holds", lines=[{"kata": "x", "s": 7, "MFU": ""}, "said", {"MFU": ""}]
    )
    made.outcomes["second"] = report.StepOutcome("second", "a claim", "crashed", "signal SIGABRT", time="2026-11-29")
    heading, _, table = made.format().partition("## For docs/evidence/measurements.md")[2].strip().partition("\n\n")
    assert heading == "GPU 0: NVIDIA H200, torch 2.13.0"
    assert table.splitlines()[2:] == [
        "| first | a \\| b () | holds |",
        "| first | kata x | s 7 |",
        "| second | a claim (2026-11-29) | **crashed**: signal SIGABRT |",
    ]


def test_report_falls_back_to_writable_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = report.find_writable(tmp_path / "file" / "report.md")
    assert (found.name, found.parent.is_dir()) == ("report.md", True)


@pytest.mark.parametrize(
    ("step", "code", "words"),
    [
        ("torch", 1, "finds no CUDA device"),
        ("graded", steps.LACKING, "built without CUDA|hides all devices"),
        ("student", steps.LACKING, "pytest has measured no workload"),
    ],
)
def test_step_without_gpu_reports_what_is_missing(step: str, code: int, words: str) -> None:
    command = Step(step, "a claim", 1).build_command("cuda", 60, "quick")
    done = run_program(sys.executable, *command, environment={**get_environment(), "CUDA_VISIBLE_DEVICES": ""})
    assert (done.code, re.search(words, done.err.splitlines()[-1]) is None) == (code, False), done.err


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ([], ""),
        ([IsolationError("no bubblewrap")], "Lacking: second: IsolationError: no bubblewrap"),
        ([place.Failed("unshare: not permitted")], "Lacking: second: Failed: unshare: not permitted"),
        ([IsolationError("no bubblewrap"), place.Failed("it is 7\n")], "Failed: third: Failed: it is 7"),
        ([TimedOut("no answer")], "Failed: second: TimedOut: no answer"),
        ([place.Lacking(sandbox_trials.TIME_IS_UP)], "second: Lacking: the time of this step was up"),
    ],
)
@pytest.mark.usefixtures("driver")
def test_failed_trial_does_not_prevent_later_trials(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], errors: list[BaseException], expected: str
) -> None:
    trials = [("first", lambda: "good"), *zip(("second", "third"), [Mock(side_effect=e) for e in errors], strict=False)]
    monkeypatch.setattr(sandbox_trials, "list_trials", lambda *_, **__: [*trials, ("last", lambda: "good")])
    monkeypatch.setattr(torch_only, "OUT", sys.stdout)
    monkeypatch.setenv("LD_LIBRARY_PATH", "")  # set by the step itself
    settings = place.StepSettings("cpu", math.inf, quick=True)
    try:
        sandbox_trials.try_sandbox(settings)
        found = "; ".join(settings.unfinished)
    except (place.Failed, place.Lacking) as error:
        found = f"{type(error).__name__}: {error}"
    assert found == expected
    assert '{"trial": "last", "outcome": "good"}' in capsys.readouterr().out


@pytest.mark.usefixtures("driver")
def test_trial_that_hangs_leaves_time_for_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hang = (sys.executable, "-S", "-c", "import time; time.sleep(60)")
    monkeypatch.setattr(sandbox_trials, "COMMAND_SECONDS", 0.2)
    trials = [("first", lambda: sandbox_trials.run_command(*hang, seconds=0.5)), ("last", lambda: "good")]
    monkeypatch.setattr(sandbox_trials, "list_trials", lambda *_, **__: trials)
    monkeypatch.setattr(torch_only, "OUT", sys.stdout)
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    with pytest.raises(place.Failed, match=r"first: Failed: no end after 0\.2 seconds"):
        sandbox_trials.try_sandbox(place.StepSettings("cpu", math.inf, quick=True))
    assert '{"trial": "last", "outcome": "good"}' in capsys.readouterr().out
    with pytest.raises(place.Lacking, match="the time of this step was up"):
        sandbox_trials.run_command(*hang, seconds=0.1)


def test_standalone_benchmark_uses_matrix_sizes_of_course(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(torch_only.__file__).read_text("utf-8")
    cuda, cpu = (f"({size.batch}, {size.width}, {size.outputs})" for size in (PRODUCT["cuda"], PRODUCT["cpu"]))
    assert f'COURSE = {cuda} if KIND == "cuda" else {cpu}' in source
    product = torch_only.Product("bf16", 8, 8, 8, cache="flushed")
    monkeypatch.setattr(torch_only, "list_products", lambda: iter([product]))
    ((row,),) = (list(measure()) for name, measure in torch_only.list_tasks() if name == str(product))
    assert float(str(row["relative error"])) < 1e-2


def test_clock_step_fails_if_clocks_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [{"torch.utils.benchmark, processor time": 0.05}]
    monkeypatch.setattr(clock, "measure_turns", lambda *_: turns)
    monkeypatch.setattr(steps, "launch", lambda *_: type("", (), {"close": str}))
    monkeypatch.setattr(steps, "prove", lambda *_: None)
    with pytest.raises(place.Failed, match=r"torch.utils.benchmark, processor time: 0\.050"):
        steps.compare_clocks(place.StepSettings("cpu", math.inf, quick=True))


@pytest.mark.parametrize(
    ("name", "fit"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-cp312-cp312-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp311-cp311-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp39-abi3-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp313-abi3-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp312-cp312-manylinux_2_28_aarch64.whl", False),
    ],
)
def test_wheels_must_match_python_version_and_processor(name: str, fit: bool) -> None:
    assert run.fits(Path(name), (3, 12), "x86_64") is fit


def test_older_python_measures_torch_only(prove: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many images with a GPU have Python 3.10, which lacks `tomllib`."""
    monkeypatch.setitem(sys.modules, "tomllib", None)
    importlib.reload(torch_only)
    monkeypatch.setattr(sys, "version_info", (3, 10, 12))
    ran = FakeStep("torch", "a claim", 1, 60, (3, 10))
    code, found, report = prove(steps=[replace(ran, name="graded", python=(3, 11)), ran])
    assert (code, found["torch"]["outcome"], found["torch"]["lines"]) == (0, "holds", [{"figure": 7}])
    assert "**lacking**: Python 3.11 or newer" in report


@pytest.mark.parametrize("module", [prove_gpu, report, run, torch_only])
def test_older_python_can_read_the_code(module: Any) -> None:
    tree = ast.parse(Path(module.__file__).read_text("utf-8"), feature_version=(3, 10))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {(getattr(node, "module", None), alias.name) for node in top for alias in node.names}
    newer = {("datetime", "UTC"), ("typing", "Self"), ("enum", "StrEnum"), (None, "tomllib")}
    assert not names & newer


def test_bundle_runs_with_its_wheels(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "a-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("sitecustomize.py", "print('a package of the bundle')")
    bundle.write_bundle(tmp_path / "bundle.zip", wheels)
    zipfile.ZipFile(tmp_path / "bundle.zip").extractall(tmp_path / "there")
    done = run_program(sys.executable, "-I", tmp_path / "there/run.py", "--help", cwd=tmp_path)
    assert (done.code, "a package of the bundle" in done.out, "--minutes" in done.out) == (0, True, True), done.err
