"""Grading on a real Slurm of one node ends with the same gradebook, whatever happens to the run."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import ask, grade
from grader.tests.support.slurm_runs import ON_SLURM, Started, is_whole, times
from grader.tests.support.submissions import (
    LINEAR,
    OPTIONS,
    PRIMES,
    SHORT,
    SIEVE,
    WITHOUT_TWO,
    handed_in,
    results,
    trapped,
)

pytestmark = [pytest.mark.slurm, pytest.mark.usefixtures("cluster", "needs_bwrap")]


def test_slurm_run_equals_local_run(tmp_path: Path) -> None:
    paths = handed_in(tmp_path / "class", SIEVE, *(f"student{number:02}" for number in range(6)), kata="sieve")
    for number, path in enumerate(paths):
        if number % 3 == 1:
            (path / "sieve.py").write_text(WITHOUT_TWO)
        if number == 2:
            (path / "sieve.py").write_text("import os\nos._exit(0)\n")
    assert grade(*paths, "--out", tmp_path / "local", *OPTIONS, course=PRIMES).code == 0
    started, most = Started(paths, tmp_path / "slurm"), 0
    while started.process.poll() is None:
        most = max(most, sum(job.state == "RUNNING" for job in started.jobs().values()))
        time.sleep(0.2)
    done = started.ended()
    assert (done.code, done.err) == (0, "")
    assert "tests of 6 submissions in 3 tasks, 2 at once" in done.out
    assert most <= 2
    is_whole(tmp_path / "slurm", (tmp_path / "local/gradebook.csv").read_bytes())
    again = ask("--course", PRIMES, "grade", *paths, "--out", tmp_path / "slurm", *ON_SLURM)
    assert "6 of 6 had been graded before" in again.out
    assert "job" not in again.out


def test_cancelled_task_is_completed_by_same_command(
    slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path
) -> None:
    started = Started(slow_class, tmp_path)
    started.until_it_grades()
    task = started.first_running()
    subprocess.run(["scancel", task], check=True)
    done = started.ended()
    assert done.code == 3
    assert f"warning: cancelled tasks: {task}\n" in done.err
    assert "could not be graded; run the same command again: " in done.err
    before = times(tmp_path)
    assert grade(*slow_class, "--out", tmp_path, *ON_SLURM, course=PRIMES).code == 0
    assert {name: times(tmp_path)[name] for name in before} == before, "nobody is graded twice"
    is_whole(tmp_path, slow_gradebook)


def test_killed_run_goes_on_with_same_command(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    started = Started(slow_class, tmp_path, "--jobs", "1")
    started.until_it_grades()
    started.process.kill()
    started.process.communicate()
    (array,) = {id.partition("_")[0] for id in started.jobs()}
    again = Started(slow_class, tmp_path).ended()
    assert again.code == 0, again.err
    assert f"job {array} continues" in again.out
    assert "tests of" not in again.out, "nothing is submitted again"
    is_whole(tmp_path, slow_gradebook)


def test_refused_job_is_reported_in_one_line(slow_class: list[Path], tmp_path: Path) -> None:
    done = Started(slow_class, tmp_path, "--slurm", "partition=nowhere").ended()
    assert done.code == 3
    assert done.err.startswith("grader: Slurm rejected the job: ")
    assert "invalid partition specified: nowhere" in done.err
    assert done.err.count("\n") == 1
    assert grade(slow_class[0], "--out", tmp_path, *ON_SLURM, course=PRIMES).code == 0


def test_slurm_run_executes_no_file_beside_submission(tmp_path: Path) -> None:
    handed_in(tmp_path / "ada", LINEAR, "assignment")
    trapped(tmp_path / "ada", tmp_path / "mark")
    command = [str(Path(sys.executable).with_name("grader")), "--course", str(ROOT), "grade", "."]
    command += ["--out", "../out", "--kata", "linear", *SHORT, "--executor", "slurm"]
    done = subprocess.run(command, cwd=tmp_path / "ada", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "out") == ["ada"]
    assert not (tmp_path / "mark").exists()
