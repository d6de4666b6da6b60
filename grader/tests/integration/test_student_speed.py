"""Tests of `pytest -m gpu` on a student's machine, without a GPU and with a simulated one."""

import re
import sys
from pathlib import Path

import pytest
import torch

from grader.tests import ROOT
from grader.tests.conftest import Run, run
from grader.tests.support.solution import SOLUTION
from grader.tests.support.submissions import edit_solution, write_assignment
from torchkata.course import course
from torchkata.inside.speed.sizes import Kind
from torchkata.inside.speed.workload import work_of
from torchkata.speed.local_bench import CALLS, Stopwatch, describe_shrinking, find_gpu
from torchkata.speed.memory import NoRoom, bytes_for, fit

without_a_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
WORKLOADS = list(course().workloads)


def run_on_fake_gpu(folder: Path, *options: str) -> Run:
    """Run `pytest -m gpu` on the CPU with a simulated GPU."""
    return run("pytest", "-m", "gpu", "-p", "grader.tests.support.fake_gpu", f"--impl={folder}", *options)


def read_rows(out: str) -> dict[str, str]:
    """Return the rows of the table, keyed by workload."""
    lines = [line.split(maxsplit=1) for line in out.splitlines() if line.startswith("  ")]
    return {words[0]: words[1] for words in lines if len(words) == 2 and words[0] in WORKLOADS}


def run_changed(folder: Path, **texts: tuple[str, str]) -> str:
    """Run the given katas of the solution, each with one replacement in its source."""
    done = run_on_fake_gpu(
        write_assignment(folder, **{kata: edit_solution(kata, *pair) for kata, pair in texts.items()}),
        *(f"--kata={k}" for k in texts),
    )
    assert done.code == 1
    return done.out


def test_pytest_skips_speed_tests_by_default() -> None:
    listed = run("pytest", "--collect-only").out
    assert "test_speed.py" not in listed
    assert "deselected" not in listed
    done = run("pytest", "--impl", "solution", "--kata", "sgd", "--examples", "2")
    all_of_it = f"{len(course().katas['sgd'].points)} passed in"
    assert (done.code, done.out.splitlines()[-1].startswith(all_of_it)) == (0, True), done.out


@without_a_gpu
def test_speed_tests_are_not_run_without_a_gpu() -> None:
    done = run("pytest", "-m", "gpu")
    assert done.code == 0, done.out
    assert list(read_rows(done.out)) == WORKLOADS
    assert all(row.startswith("not run   (") for row in read_rows(done.out).values())
    assert [words in done.out for words in ("6 not run", "passed", "failed")] == [True, False, False]


def test_solution_is_fast_on_simulated_gpu() -> None:
    done = run_on_fake_gpu(SOLUTION)
    assert done.code == 0, done.out
    assert "  workload              rate              measured          to pass  for full verdict" in done.out
    assert list(read_rows(done.out)) == WORKLOADS
    assert read_rows(done.out)["linear_forward"].split()[1:] == ["TFLOP/s", "1.00", "0.60", "0.75", "full"]
    assert float(read_rows(done.out)["linear_forward"].split()[0]) == pytest.approx(0.001, rel=0.1), "as simulated"
    assert "This is only an estimate: the grader measures your code again, and its result counts." in done.out
    assert "6 passed" in done.out


def test_speed_is_not_shown_for_wrong_results(tmp_path: Path) -> None:
    out = run_changed(
        tmp_path,
        linear=("x @ self.weight", "x[..., :-64] @ self.weight[:-64]"),
        sgd=('-group["lr"]', '-0.9 * group["lr"]'),
        adagrad=('torch.sqrt(state["g2"] + 1e-5)', 'torch.sqrt(state["g2"] + 1.0)'),
        get_batch=("windows.astype(np.int64)", "windows.astype(np.int64) + 1"),
        train=(".square().mean()", ".square().sum()"),
    )
    assert set(read_rows(out).values()) == {"wrong"}, out


def test_slow_and_crashed_workloads_are_explained(tmp_path: Path) -> None:
    out = run_changed(
        tmp_path,
        linear=("return x @ self.weight", "x @ self.weight\n        return x @ self.weight"),
        adagrad=('state["g2"] + 1e-5', 'state["g3"] + 1e-5'),
        train=("loss = (model(x)", "[model(x) for _ in range(4)]\n        loss = (model(x)"),
    )
    found = read_rows(out)
    assert found["adagrad_step"].split()[-1] == "crashed"
    assert re.search(r"at        adagrad\.py, line \d+:  .*g3", out), "the crash must show the student's line"
    assert found["train_throughput"].split()[-2:] == found["linear_forward"].split()[-2:] == ["too", "slow"]
    block = out[out.index("linear_forward · ") :].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in block[1:]] == ["expected", "yours", "note", "again:"]
    assert block[1].endswith("0.60 or more of plain torch's speed")
    assert "0.50 times the speed of a plain matmul" in block[3]
    assert "what does the loop do besides forward, backward and step?" in out
    assert "2 too slow" in out


def test_passing_workload_names_the_usual_cause(tmp_path: Path) -> None:
    """Two more forward passes take six products, in addition to the eight of a step."""
    changed = edit_solution("train", "loss = (model(x)", "[model(x) for _ in range(2)]\n        loss = (model(x)")
    done = run_on_fake_gpu(write_assignment(tmp_path, train=changed), "--kata=train")
    assert done.code == 0, done.out
    row, advice = done.out[done.out.index("  train_throughput") :].splitlines()[:2]
    assert row.split()[-1] == "passing"
    assert "times the speed of plain steps: what does the loop do besides" in advice


def test_speed_tests_of_stubs_count_as_not_started() -> None:
    done = run_on_fake_gpu(ROOT / "assignment")
    assert done.code == 1
    assert set(read_rows(done.out).values()) == {"not started"}
    assert " · " not in done.out


def test_table_shows_reduced_batch_and_mfu_of_device() -> None:
    work = work_of("linear_forward")
    too_little = bytes_for(work, work.sizes["cpu"], CALLS) - 1
    device = ("--fake-name", "NVIDIA H200", "--fake-bytes", str(too_little))
    done = run_on_fake_gpu(SOLUTION, "--kata", "linear", *device)
    assert done.code == 0
    assert "(batch 256 instead of 512, to fit in device memory)" in done.out
    row = read_rows(done.out)["linear_forward"].split()[2:]
    assert row[:6] == ["1.00,", "MFU", "0.00", "0.75", "0.90", "full"], "thresholds must not exceed plain torch"


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_workload_is_halved_to_fit_memory(kind: Kind, workload: str) -> None:
    work = work_of(workload)
    whole = work.sizes[kind]
    assert fit(work, whole, bytes_for(work, whole, CALLS), CALLS) == (whole, CALLS)
    assert describe_shrinking(whole, whole) == ""
    half, calls = fit(work, whole, bytes_for(work, whole, CALLS) - 1, CALLS)
    assert calls >= CALLS
    for name in work.shrinks:
        assert 2 * getattr(half, name) == getattr(whole, name)
    assert bytes_for(work, half, CALLS) < bytes_for(work, whole, CALLS)
    assert describe_shrinking(whole, half)
    with pytest.raises(NoRoom, match=r"needs \d+\.\d GiB of device memory, but only 0\.0 GiB can be used"):
        fit(work, whole, 0)


def test_stopwatch_empties_cache_before_reporting_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    free = [5]
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: free.append(7))
    for name, answer in {"get_device_name": lambda: "NVIDIA H200", "is_available": lambda: True}.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free[-1], 9))
    gpu = find_gpu()
    assert isinstance(gpu, Stopwatch)
    vars(sys)["last_exc"] = ValueError("it holds tensors")
    assert (gpu.kind, gpu.name, gpu.free_bytes()) == ("cuda", "NVIDIA H200", 7)
    assert not hasattr(sys, "last_exc")
