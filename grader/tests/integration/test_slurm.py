"""A class on a real Slurm of one node: the same gradebook, whatever happens to the run; timing/ has more faults."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from grader.cluster import record
from grader.tests.conftest import grade
from grader.tests.handed_in import LINEAR, NAMES, OPTIONS, handed_in, results
from grader.tests.slurm_runs import ON_SLURM, Started, is_whole, times

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("cluster", "needs_bwrap")]


def test_twelve_submissions_give_the_gradebook_of_a_local_run(tmp_path: Path) -> None:
    paths = handed_in(tmp_path / "class", LINEAR, *(f"student{number:02}" for number in range(12)))
    for number, path in enumerate(paths):
        if number % 3 == 1:
            (path / "linear.py").write_text(LINEAR.replace("x @ self.weight", "x @ self.weight + 1"))
        if number % 10 == 2:
            (path / "linear.py").write_text("import os\nos._exit(0)\n")
    assert grade(*paths, "--out", tmp_path / "local", *OPTIONS).code == 0
    started, most = Started(paths, tmp_path / "slurm", "--per-task", "3"), 0
    while started.process.poll() is None:
        most = max(most, sum(job.state == "RUNNING" for job in started.jobs().values()))
        time.sleep(0.2)
    done = started.ended()
    assert (done.code, done.err) == (0, "")
    assert "tests of 12 submissions in 4 tasks, 2 at once" in done.out
    assert most == 2
    is_whole(tmp_path / "slurm", (tmp_path / "local/gradebook.csv").read_bytes())
    again = grade(*paths, "--out", tmp_path / "slurm", *ON_SLURM)
    assert "12 of 12 had been graded before" in again.out
    assert "job" not in again.out


def test_scancel_of_a_running_task(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    started = Started(slow_class, tmp_path)
    started.until_it_grades()
    task = started.first_running()
    subprocess.run(["scancel", task], check=True)
    done = started.ended()
    assert done.code == 3
    assert f"warning: tasks that were cancelled: {task}\n" in done.err
    assert "could not be graded, run the same command again: " in done.err
    before = times(tmp_path)
    assert grade(*slow_class, "--out", tmp_path, *ON_SLURM).code == 0
    assert {name: times(tmp_path)[name] for name in before} == before, "nobody is graded twice"
    is_whole(tmp_path, slow_gradebook)


def test_kill_9_of_the_submitting_process(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    started = Started(slow_class, tmp_path, "--jobs", "1")
    started.until_it_grades()
    started.process.kill()
    started.process.communicate()
    (array,) = {id.partition("_")[0] for id in started.jobs()}
    again = Started(slow_class, tmp_path).ended()
    assert again.code == 0, again.err
    assert f"job {array} goes on" in again.out
    assert "tests of" not in again.out, "nothing is submitted again"
    is_whole(tmp_path, slow_gradebook)


def test_another_call_keeps_off_while_jobs_wait(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    started = Started(slow_class, tmp_path, "--slurm", "begin=now+1hour")
    started.until(started.jobs)
    started.process.kill()
    started.process.communicate()
    stored = record.load(tmp_path)
    assert stored is not None
    other = grade(*slow_class, "--out", tmp_path, *ON_SLURM, "--seed", 1)
    assert other.code == 2
    assert other.err == (
        f"grader: --out {tmp_path}: jobs of another call still grade into it (scancel --name={stored.name} ends them)\n"
    )
    subprocess.run(["scancel", f"--name={stored.name}"], check=True)
    assert Started(slow_class, tmp_path).ended().code == 0
    is_whole(tmp_path, slow_gradebook)


def test_a_node_without_a_sandbox_is_unfit(
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
    assert "warning: no other node is left to grade on: " in done.err
    assert results(out) == []
    assert Started(slow_class, out).ended().code == 0
    is_whole(out, slow_gradebook)


def test_a_gpu_is_asked_for_by_the_tasks_that_time_and_only_after_the_tests(
    slow_class: list[Path], tmp_path: Path
) -> None:
    started = Started(slow_class, tmp_path, "--device", "cpu", "--slurm", "gres=gpu:1", "--slurm", "time=10")
    asked = ("squeue", "--noheader", "--array", "--format=%A|%b|%l|%E")
    started.until(lambda: len((record.load(tmp_path) or record.Record("", "", 0)).jobs) == 2)
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    stored = record.load(tmp_path)
    assert stored is not None
    tests, speed = stored.jobs
    assert {line.partition("|")[2] for line in said if "N/A" in line} == {"N/A|10:00|(null)"}
    (waiting,) = {line.partition("|")[2] for line in said if "gpu" in line}
    assert waiting.startswith(f"gres:gpu:1|10:00|afterany:{tests}_*")
    subprocess.run(["scancel", speed], check=True)
    done = started.ended()
    assert done.code == 3
    assert results(tmp_path) == list(NAMES)


def test_a_failed_sbatch_is_one_line(slow_class: list[Path], tmp_path: Path) -> None:
    done = Started(slow_class, tmp_path, "--slurm", "partition=nowhere").ended()
    assert done.code == 3
    assert done.err.startswith("grader: Slurm takes no job: ")
    assert "invalid partition specified: nowhere" in done.err
    assert done.err.count("\n") == 1
    assert grade(slow_class[0], "--out", tmp_path, *ON_SLURM).code == 0
