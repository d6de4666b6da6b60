"""Grading on a real single-node Slurm cluster gives the same gradebook as local grading, even if it is interrupted."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import call_grader, grade
from grader.tests.support.slurm_runs import ON_SLURM, SlurmRun, assert_complete, read_times
from grader.tests.support.submissions import (
    LINEAR,
    OPTIONS,
    PRIMES,
    SHORT,
    SIEVE,
    WRONG_SIEVE,
    list_results,
    write_submissions,
    write_traps,
)

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("cluster", "needs_bwrap")]


def test_slurm_run_gives_same_gradebook_as_local_run(tmp_path: Path) -> None:
    paths = write_submissions(tmp_path / "class", SIEVE, *(f"student{number:02}" for number in range(6)), kata="sieve")
    for number, path in enumerate(paths):
        if number % 3 == 1:
            (path / "sieve.py").write_text(WRONG_SIEVE)
        if number == 2:
            (path / "sieve.py").write_text("import os\nos._exit(0)\n")
    assert grade(*paths, "--out", tmp_path / "local", *OPTIONS, course=PRIMES).code == 0
    started, most = SlurmRun(paths, tmp_path / "slurm"), 0
    while started.process.poll() is None:
        most = max(most, sum(job.state == "RUNNING" for job in started.list_tasks().values()))
        time.sleep(0.2)
    done = started.wait()
    assert (done.code, done.err) == (0, "")
    assert "tests of 6 submissions in 3 tasks, 2 at once" in done.out
    assert most <= 2
    assert_complete(tmp_path / "slurm", (tmp_path / "local/gradebook.csv").read_bytes())
    again = call_grader("--course", PRIMES, "grade", *paths, "--out", tmp_path / "slurm", *ON_SLURM)
    assert "6 of 6 were already graded" in again.out
    assert "job" not in again.out


def test_repeating_the_command_completes_a_cancelled_task(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path
) -> None:
    started = SlurmRun(slow_class, tmp_path)
    started.wait_until_grading()
    task = started.find_running_task()
    subprocess.run(["scancel", task], check=True)
    done = started.wait()
    assert done.code == 3
    assert f"warning: cancelled tasks: {task}\n" in done.err
    assert "could not be graded; run the same command again: " in done.err
    before = read_times(tmp_path)
    assert grade(*slow_class, "--out", tmp_path, *ON_SLURM, course=PRIMES).code == 0
    assert {name: read_times(tmp_path)[name] for name in before} == before, "no submission may be graded twice"
    assert_complete(tmp_path, slow_gradebook)


def test_repeating_the_command_resumes_a_killed_run(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path
) -> None:
    started = SlurmRun(slow_class, tmp_path, "--jobs", "1")
    started.wait_until_grading()
    started.process.kill()
    started.process.communicate()
    (array,) = {id.partition("_")[0] for id in started.list_tasks()}
    again = SlurmRun(slow_class, tmp_path).wait()
    assert again.code == 0, again.err
    assert f"job {array} continues" in again.out
    assert "tests of" not in again.out, "no job may be submitted again"
    assert_complete(tmp_path, slow_gradebook)


def test_rejected_slurm_job_is_reported_in_one_line(slow_class: list[Path], tmp_path: Path) -> None:
    done = SlurmRun(slow_class, tmp_path, "--slurm", "partition=nowhere").wait()
    assert done.code == 3
    assert done.err.startswith("grader: Slurm rejected the job: ")
    assert "invalid partition specified: nowhere" in done.err
    assert done.err.count("\n") == 1
    assert grade(slow_class[0], "--out", tmp_path, *ON_SLURM, course=PRIMES).code == 0


def test_slurm_run_executes_no_file_next_to_submission(tmp_path: Path) -> None:
    write_submissions(tmp_path / "ada", LINEAR, "assignment")
    write_traps(tmp_path / "ada", tmp_path / "mark")
    command = [str(Path(sys.executable).with_name("grader")), "--course", str(ROOT), "grade", "."]
    command += ["--out", "../out", "--kata", "linear", *SHORT, "--executor", "slurm"]
    done = subprocess.run(command, cwd=tmp_path / "ada", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert list_results(tmp_path / "out") == ["ada"]
    assert not (tmp_path / "mark").exists()
