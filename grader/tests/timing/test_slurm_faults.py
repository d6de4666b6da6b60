"""Grading on a real Slurm of one node: a run is complete in the end, whatever fault a task, a node or the run has.

Each test takes half a minute, most of it Slurm's own waiting. test_slurm.py has the faults that `make test` covers.
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
from grader.tests.support.slurm_runs import ON_SLURM, PATIENCE, Started, is_whole, processes, times
from grader.tests.support.submissions import LINEAR, NAMES, OPTIONS, PRIMES, SLOW, handed_in, results

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("cluster", "needs_bwrap")]


@pytest.mark.parametrize("module", ["submitit.core._submit", "grader.cluster.chunk"])
def test_killed_task_is_submitted_again(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path, module: str
) -> None:
    started = Started(slow_class, tmp_path)
    started.until_it_grades()
    started.until(lambda: processes(tmp_path, module))
    os.kill(processes(tmp_path, module)[0], signal.SIGKILL)
    before = times(tmp_path)
    done = started.ended()
    assert done.code == 0, done.err
    assert "warning: failed tasks: " in done.err
    assert {name: times(tmp_path)[name] for name in before} == before
    is_whole(tmp_path, slow_gradebook)


def test_killed_forced_run_keeps_graded_results(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    assert grade(*slow_class, "--out", tmp_path, *OPTIONS, "--isolation", "bwrap", course=PRIMES).code == 0
    old = times(tmp_path)
    started = Started(slow_class, tmp_path, "--force")
    started.until(lambda: times(tmp_path) != old)
    started.process.kill()
    started.process.communicate()
    end = time.monotonic() + PATIENCE
    while not all(job.ended for job in started.jobs().values()) and time.monotonic() < end:
        time.sleep(0.2)
    new = times(tmp_path)
    assert all(new[name] > old[name] for name in NAMES)
    again = Started(slow_class, tmp_path, "--force").ended()
    assert (again.code, "job" in again.out) == (0, False)
    assert times(tmp_path) == new
    is_whole(tmp_path, slow_gradebook)


@pytest.mark.parametrize("harm", ["stop-node", "crash"])  # slurmd alone, or with its tasks
def test_run_survives_loss_of_a_node(
    cluster: Path, slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path, harm: str
) -> None:
    started = Started(slow_class, tmp_path)
    started.until_it_grades()
    control(harm, cluster)
    before = times(tmp_path)
    assert harm == "stop-node" or processes(tmp_path, "grader.cluster.chunk") == []
    control("start-node", cluster)
    done = started.ended()
    assert done.code == 0, done.err
    assert {name: times(tmp_path)[name] for name in before} == before
    is_whole(tmp_path, slow_gradebook)


def test_preempted_task_is_queued_again(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    started = Started(slow_class, tmp_path)
    started.until_it_grades()
    task = started.first_running()
    for name in ("TERM", "USR2"):  # what Slurm sends before it takes the node away
        subprocess.run(["scancel", f"--signal={name}", task], check=True)
    (log,) = tmp_path.glob(f".slurm/torchkata-*/*/{task}_0_log.out")
    started.until(lambda: f"Requeued job {task}" in log.read_text())
    done = started.ended()
    assert (done.code, done.err) == (0, "")
    assert "job" in done.out
    assert done.out.count("tests of") == 1, "the task itself took up what was missing"
    is_whole(tmp_path, slow_gradebook)


def test_node_without_gpu_is_unfit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = handed_in(tmp_path / "class", LINEAR, "ada")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = Started(paths, tmp_path / "out", "--device", "cuda", course=ROOT, kata="linear").ended()
    assert done.code == 3
    assert "is unfit: speed is not graded: " in done.err
    assert results(tmp_path / "out") == ["ada"]


def test_other_call_is_refused_while_jobs_wait(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    started = Started(slow_class, tmp_path, "--slurm", "begin=now+1hour")
    started.until(started.jobs)
    started.process.kill()
    started.process.communicate()
    stored = record.load(tmp_path)
    assert stored is not None
    other = grade(*slow_class, "--out", tmp_path, *ON_SLURM, "--seed", 1, course=PRIMES)
    assert other.code == 2
    assert other.err == (
        f"grader: --out {tmp_path}: jobs of another call still grade into it; "
        f"end them with scancel --name={stored.name}\n"
    )
    subprocess.run(["scancel", f"--name={stored.name}"], check=True)
    assert Started(slow_class, tmp_path).ended().code == 0
    is_whole(tmp_path, slow_gradebook)


def test_node_without_sandbox_is_unfit(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin/bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    broken.chmod(0o755)
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
        done = Started(slow_class, out).ended()
    assert done.code == 3
    assert "is unfit: isolation bwrap does not work here: no namespaces here\n" in done.err
    assert "warning: no other node is left for grading: " in done.err
    assert results(out) == []
    assert Started(slow_class, out).ended().code == 0
    is_whole(out, slow_gradebook)


def test_only_speed_tasks_ask_for_gpu(tmp_path: Path) -> None:
    paths, out = handed_in(tmp_path / "class", LINEAR + 2 * SLOW, *NAMES), tmp_path / "out"
    asked_for = ("--device", "cpu", "--slurm", "gres=gpu:1", "--slurm", "time=10")
    started = Started(paths, out, *asked_for, course=ROOT, kata="linear")
    asked = ("squeue", "--noheader", "--array", "--format=%A|%b|%l|%E")
    started.until(lambda: len((record.load(out) or record.Record("", "", 0)).jobs) == 2)
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    stored = record.load(out)
    assert stored is not None
    tests, speed = stored.jobs
    assert {line.partition("|")[2] for line in said if "N/A" in line} == {"N/A|10:00|(null)"}
    (waiting,) = {line.partition("|")[2] for line in said if "gpu" in line}
    assert waiting.startswith(f"gres:gpu:1|10:00|afterany:{tests}_*")
    subprocess.run(["scancel", speed], check=True)
    done = started.ended()
    assert done.code == 3
    assert results(out) == list(NAMES)
