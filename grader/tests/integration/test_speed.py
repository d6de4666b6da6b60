"""With `grader grade --device`, speed is graded after the tests, and a machine fault costs no points."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from grader.pipeline import speed as phase
from grader.results.result import KataResult, PerformanceResult, Result, read, write
from grader.sandbox.mounts import Gpu
from grader.speed import gpu, timed_workloads, timing_device
from grader.speed.machine import Machine
from grader.speed.timed_submission import Row, SpeedJob, add_fallbacks
from grader.speed.timed_worker import Task
from grader.speed.worker_bench import WorkerBench
from grader.tests.conftest import Run, call_grader, grade
from grader.tests.support.sample_results import make_result
from grader.tests.support.submissions import write_assignment
from torchkata.course import course
from torchkata.inside.speed.sizes import Kind, Size
from torchkata.seam.failures import Crashed, Died, Inconclusive, NotStarted, Place, TimedOut
from torchkata.speed.bench import Reading
from torchkata.speed.decision import Final

LINEAR = course().workloads["linear_forward"]


def grade_linear(*arguments: object) -> Run:
    return grade(*arguments, "--kata", "linear", "--examples", 5)


def read_stored(directory: Path, submission: str) -> Any:
    return json.loads((directory / submission / "result.json").read_text())


@pytest.mark.timing  # half a minute of blocks
def test_stored_speed_results_are_reused(tmp_path: Path) -> None:
    right, out = write_assignment(tmp_path / "right"), tmp_path / "out"
    run = grade_linear(right, "--out", out, "--device", "cpu")
    fast = read_stored(out, "right")
    (row,) = fast["performance"]
    assert (row["workload"], fast["device"], bool(fast["environment"]["device"])) == ("linear_forward", "cpu", True)
    assert (run.code, row["outcome"], row["score"]) in ((0, "passed", 0), (3, "inconclusive", 0)), run.err
    points = sum(kata["score"] for kata in fast["katas"])
    assert (fast["score"], fast["max_score"]) == (points, points), "speed on a CPU must not change the points"
    again = grade_linear(right, "--out", out, "--device", "cpu")
    assert "1 of 1 were already graded" in again.out
    assert run.code or read_stored(out, "right") == fast, "a verdict is measured once"
    without = grade_linear(right, "--out", out, "--again")
    assert (without.code, read_stored(out, "right")["performance"]) == (0, [])


def test_workload_without_device_is_retried_in_next_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = grade_linear(write_assignment(tmp_path / "ada"), "--out", out, "--device", "cuda")
    found = read_stored(out, "ada")
    (row,) = found["performance"]
    assert (run.code, row["outcome"]) == (3, "not_graded")
    assert "run the same command again" not in run.err
    assert f"speed is not graded: {row['message']}" in run.err
    assert found["score"] == found["max_score"] == sum(kata["max_score"] for kata in found["katas"])
    again = call_grader(
        "grade", tmp_path / "ada", "--out", out, "--device", "cuda", "--kata", "linear", "--examples", 5
    )
    assert (again.code, "speed is not graded: " in again.err) == (3, True), "the second run must retry the workload"


def grade_workload(
    monkeypatch: pytest.MonkeyPatch, error: BaseException | Final, kind: Kind = "cuda"
) -> PerformanceResult:
    """Grade a workload whose measurement returns this verdict or raises this exception, and return its row."""

    def measure(bench: WorkerBench) -> Reading:
        if isinstance(error, BaseException):
            raise error
        return Reading(error, bench.workload.ratio["cuda"])

    monkeypatch.setattr(timed_workloads, "measure", measure)
    monkeypatch.setattr(timed_workloads, "choose_task", lambda _, workload: Task(workload.name, kind, Size(), 1))
    machine = Machine(kind, kind, None, 0, timing_device.get_limits(), None, None, lambda: "")  # type: ignore[arg-type]
    (row,) = timed_workloads.grade(machine, [course().workloads["train_throughput"]], {"train_throughput": {}})
    return row


REHEARSAL = "This is a rehearsal without points: only speed on a GPU earns them."


@pytest.mark.parametrize(
    ("end", "outcome", "words", "points"),
    [
        (NotStarted(Place("train.py", 3)), "not_started", "train.py is missing or still a stub", 0),
        (Crashed("ValueError: no", Place("train.py", 7)), "crashed", "ValueError: no (train.py, line 7)", 0),
        (Died("it ended Python"), "crashed", "it ended Python", 0),
        (TimedOut("no answer within 3 seconds"), "timed_out", "no answer within 3 seconds: more than 10 times", 0),
        (
            Inconclusive("no worker"),
            "inconclusive",
            "no worker; this is a problem of the grading machine, and you lose no points",
            0,
        ),
        (Final("failed", note="wrong"), "failed", "wrong", 0),
        (Final("passed", "passing", median=0.6, used=3, note="what was measured"), "passed", "what was measured", 3),
    ],
)
def test_workload_outcome_and_points_depend_on_reply(
    monkeypatch: pytest.MonkeyPatch, end: BaseException | Final, outcome: str, words: str, points: int
) -> None:
    row = grade_workload(monkeypatch, end)
    assert (row.outcome, row.score, row.max_score, row.rehearsed) == (outcome, points, 5, False)
    first, *lesson = row.message.splitlines()
    assert first.startswith(words)
    taught = "what does the loop do besides forward, backward and step?" in "".join(lesson)
    assert taught == (points > 0), "only a measured speed may have a lesson"
    assert row.ratio == (0.6 if points else None)
    assert not points or row.thresholds == (0.55, 0.7)
    on_cpu = grade_workload(monkeypatch, end, "cpu")
    assert (on_cpu.outcome, on_cpu.score, on_cpu.max_score) == (outcome, 0, 0)
    counts = outcome != "inconclusive"
    assert (on_cpu.rehearsed, REHEARSAL in on_cpu.message.splitlines()) == (counts, counts)


def graded_kata(name: str, status: Any) -> KataResult:
    return KataResult(name, status, 0, 0)


def test_solution_replaces_only_wrong_prerequisites_for_timing() -> None:
    files = {f"{name}.py": name.encode() for name in ("linear", "cruncher", "sgd", "train")}
    katas = tuple(graded_kata(name, "wrong") for name in ("linear", "cruncher", "sgd", "train"))
    workloads = tuple(course().workloads[name] for name in ("linear_forward", "train_throughput"))
    job = SpeedJob("ada", files, katas, workloads)
    found = add_fallbacks(job)
    assert found["linear_forward"] == files
    fallbacks = {f"{name}.py": course().fallback(name).read_bytes() for name in ("linear", "cruncher", "sgd")}
    assert found["train_throughput"] == files | fallbacks
    done = SpeedJob("ada", files, tuple(graded_kata(name, "done") for name in ("linear", "cruncher", "sgd")), workloads)
    assert add_fallbacks(done)["train_throughput"] == files


def test_inconclusive_workloads_do_not_change_score() -> None:
    made = make_result("why")
    rows = [
        PerformanceResult("linear_forward", "passed", 3, 5, seconds=1.0),
        PerformanceResult("sgd_step", "failed", 0, 3, seconds=1.0),
        PerformanceResult("adagrad_step", "inconclusive", 0, 3),
        PerformanceResult("get_batch_throughput", "not_graded", 0, 3),
    ]
    found: Result = phase.add_speed(made, "cpu", rows, {"device": "a CPU"})
    assert (found.score, found.max_score) == (made.score + 3, made.max_score + 8)
    assert (found.device, found.environment["device"], found.seconds) == ("cpu", "a CPU", made.seconds + 2)
    twice = phase.add_speed(found, "cpu", rows, {})
    assert (twice.score, twice.max_score) == (found.score, found.max_score), "the earlier speed result must be replaced"
    assert not found.is_timed("cpu")
    whole = phase.add_speed(made, "cpu", rows[:2], {})
    assert whole.is_timed("cpu")
    assert not whole.is_timed("cuda")


PASSED = PerformanceResult("linear_forward", "passed", 5, 5, "why", ratio=0.9, tier="full")
UNTIMED = PerformanceResult("sgd_step", "not_graded", 0, 3)


def make_queue(
    monkeypatch: pytest.MonkeyPatch, out: Path, reached: str, *, chosen: str = "auto", fault: str = ""
) -> Any:
    """Return a queue with a stored result of Ada. A fake sandbox with the isolation `reached` measures her speed."""
    write(make_result("why"), out)
    sandbox = SimpleNamespace(isolation=reached, gpu=None)
    monkeypatch.setattr(phase, "find_untimed", lambda *_: ([SpeedJob("ada", {}, (), ())], []))
    monkeypatch.setattr(gpu, "choose_gpu", lambda: Gpu("GPU-test", 0))
    monkeypatch.setattr(phase, "run_with_sandbox", lambda *given: given[4](sandbox))
    monkeypatch.setattr(phase, "run_smoke_test", lambda *_: fault)
    monkeypatch.setattr(phase, "grade_speed", lambda *_: iter([Row(PASSED), Row(UNTIMED)]))
    options = SimpleNamespace(out=out, isolation=chosen)
    return SimpleNamespace(options=options, katas=(), entries=())


@pytest.mark.parametrize(
    ("chosen", "reached", "points", "said"),
    [
        ("auto", "bwrap", 5, ["in bubblewrap"]),
        ("auto", "none", 0, ["without bubblewrap", phase.REMEDY]),
        ("none", "none", 5, ["without bubblewrap"]),
    ],
)
def test_speed_points_require_bubblewrap_unless_waived(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: str, reached: str, points: int, said: list[str]
) -> None:
    queue, out, warned = make_queue(monkeypatch, tmp_path, reached, chosen=chosen), io.StringIO(), list[str]()
    assert phase.grade_speeds("cuda", queue, ["ada"], Console(file=out, width=200), warned.append) == ([], "")
    found = read(tmp_path / "ada/result.json")
    row, other = found.performance
    assert (row.score, row.max_score, other) == (points, points, UNTIMED)
    assert (str(phase.NO_POINTS) in row.message, row.rehearsed) == (points == 0, points == 0)
    assert found.can_time_again == (points == 0), "another machine may still time it"
    for words in said:
        assert words in out.getvalue() + "".join(warned)
    assert len(warned) == len(said) - 1


def test_failed_smoke_test_reports_isolation_level_to_instructor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    queue = make_queue(monkeypatch, tmp_path, "none", fault="no memory can be shared")
    unfit = phase.grade_speeds("cuda", queue, ["ada"], Console(file=io.StringIO()), print)[1]
    assert unfit == f"speed is not graded: no memory can be shared ({phase.OWN_EYES})"
    with gpu.reserve(Gpu("GPU-test", 0)):
        unfit = phase.grade_speeds("cuda", queue, ["ada"], Console(file=io.StringIO()), print)[1]
    assert unfit == f"speed is not graded: {gpu.TAKEN}"
