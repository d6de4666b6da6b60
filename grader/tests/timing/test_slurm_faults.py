"""A grading run on a real single-node Slurm cluster can be completed even if a task, a node or the run itself fails.

Each test takes half a minute, mostly waiting for Slurm. The faults in test_slurm.py are covered by `make test`.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from grader.cluster import record
from grader.tests import ROOT
from grader.tests.conftest import control, grade
from grader.tests.support.slurm_runs import ON_SLURM, PATIENCE, SlurmRun, assert_complete, find_processes, read_times
from grader.tests.support.submissions import LINEAR, NAMES, OPTIONS, PRIMES, SLOW, list_results, write_submissions

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("cluster", "needs_bwrap")]


@pytest.mark.parametrize("module", ["submitit.core._submit", "grader.cluster.chunk"])
def test_killed_task_is_submitted_again(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path, module: str
) -> None:
    started = SlurmRun(slow_class, tmp_path)
    started.wait_until_grading()
    started.wait_until(lambda: find_processes(tmp_path, module))
    os.kill(find_processes(tmp_path, module)[0], signal.SIGKILL)
    before = read_times(tmp_path)
    done = started.wait()
    assert done.code == 0, done.err
    assert "warning: failed tasks: " in done.err
    assert {name: read_times(tmp_path)[name] for name in before} == before
    assert_complete(tmp_path, slow_gradebook)


def test_killed_forced_run_keeps_graded_results(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    assert grade(*slow_class, "--out", tmp_path, *OPTIONS, "--isolation", "bwrap", course=PRIMES).code == 0
    old = read_times(tmp_path)
    started = SlurmRun(slow_class, tmp_path, "--force")
    started.wait_until(lambda: read_times(tmp_path) != old)
    started.process.kill()
    started.process.communicate()
    end = time.monotonic() + PATIENCE
    while not all(job.ended for job in started.list_tasks().values()) and time.monotonic() < end:
        time.sleep(0.2)
    new = read_times(tmp_path)
    assert all(new[name] > old[name] for name in NAMES)
    again = SlurmRun(slow_class, tmp_path, "--force").wait()
    assert (again.code, "job" in again.out) == (0, False)
    assert read_times(tmp_path) == new
    assert_complete(tmp_path, slow_gradebook)


@pytest.mark.parametrize("harm", ["stop-node", "crash"])  # slurmd alone or together with its tasks
def test_run_survives_loss_of_a_node(
    cluster: Path, slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path, harm: str
) -> None:
    started = SlurmRun(slow_class, tmp_path)
    started.wait_until_grading()
    control(harm, cluster)
    before = read_times(tmp_path)
    assert harm == "stop-node" or find_processes(tmp_path, "grader.cluster.chunk") == []
    control("start-node", cluster)
    done = started.wait()
    assert done.code == 0, done.err
    assert {name: read_times(tmp_path)[name] for name in before} == before
    assert_complete(tmp_path, slow_gradebook)


def test_preempted_task_is_queued_again(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    started = SlurmRun(slow_class, tmp_path)
    started.wait_until_grading()
    task = started.find_running_task()
    for name in ("TERM", "USR2"):  # the signals that Slurm sends before preemption
        subprocess.run(["scancel", f"--signal={name}", task], check=True)
    (log,) = tmp_path.glob(f".slurm/torchkata-*/*/{task}_0_log.out")
    started.wait_until(lambda: f"Requeued job {task}" in log.read_text())
    done = started.wait()
    assert (done.code, done.err) == (0, "")
    assert "job" in done.out
    assert done.out.count("tests of") == 1, "the requeued task must grade the rest without a new job"
    assert_complete(tmp_path, slow_gradebook)


def test_slurm_node_without_gpu_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write_submissions(tmp_path / "class", LINEAR, "ada")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = SlurmRun(paths, tmp_path / "out", "--device", "cuda", course=ROOT, kata="linear").wait()
    assert done.code == 3
    assert "can't be used: speed is not graded: " in done.err
    assert list_results(tmp_path / "out") == ["ada"]


def test_different_call_is_rejected_while_jobs_are_queued(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path
) -> None:
    started = SlurmRun(slow_class, tmp_path, "--slurm", "begin=now+1hour")
    started.wait_until(started.list_tasks)
    started.process.kill()
    started.process.communicate()
    stored = record.load(tmp_path)
    assert stored is not None
    other = grade(*slow_class, "--out", tmp_path, *ON_SLURM, "--seed", 1, course=PRIMES)
    assert other.code == 2
    assert other.err == (
        f"grader: --out {tmp_path}: jobs that another command submitted still write to it; "
        f"cancel them with scancel --name={stored.name}\n"
    )
    subprocess.run(["scancel", f"--name={stored.name}"], check=True)
    assert SlurmRun(slow_class, tmp_path).wait().code == 0
    assert_complete(tmp_path, slow_gradebook)


def test_slurm_node_without_sandbox_is_rejected(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin/bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    broken.chmod(0o755)
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
        done = SlurmRun(slow_class, out).wait()
    assert done.code == 3
    assert "can't be used: isolation bwrap does not work here: no namespaces here\n" in done.err
    assert "warning: no suitable node is left for grading: " in done.err
    assert list_results(out) == []
    assert SlurmRun(slow_class, out).wait().code == 0
    assert_complete(out, slow_gradebook)


def test_only_speed_tasks_request_a_gpu(tmp_path: Path) -> None:
    paths, out = write_submissions(tmp_path / "class", LINEAR + 2 * SLOW, *NAMES), tmp_path / "out"
    asked_for = ("--device", "cpu", "--slurm", "gres=gpu:1", "--slurm", "time=10")
    started = SlurmRun(paths, out, *asked_for, course=ROOT, kata="linear")
    asked = ("squeue", "--noheader", "--array", "--format=%A|%b|%l|%E")
    started.wait_until(lambda: len((record.load(out) or record.Record("", "", 0)).jobs) == 2)
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    stored = record.load(out)
    assert stored is not None
    tests, speed = stored.jobs
    assert {line.partition("|")[2] for line in said if "N/A" in line} == {"N/A|10:00|(null)"}
    (waiting,) = {line.partition("|")[2] for line in said if "gpu" in line}
    assert waiting.startswith(f"gres:gpu:1|10:00|afterany:{tests}_*")
    subprocess.run(["scancel", speed], check=True)
    done = started.wait()
    assert done.code == 3
    assert list_results(out) == list(NAMES)
