"""Grading on a real single-node Slurm cluster gives the same results as local grading, even if it is interrupted.

`make prove` also tests that it can be completed if a node or the run itself fails. Each of these tests takes half a
minute, mostly waiting for Slurm.
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from grader.cluster import job_record
from grader.cluster.slurm import ListedTask, list_jobs
from grader.tests import ROOT
from grader.tests.conftest import Run, call_grader, grade
from grader.tests.support.class_of_thirty import BROKEN
from grader.tests.support.processes import is_alive
from grader.tests.support.submissions import (
    LINEAR,
    NAMES,
    OPTIONS,
    PRIMES,
    SHORT,
    SIEVE,
    SLOW,
    WRONG_SIEVE,
    list_results,
    write_slow_class,
    write_submissions,
    write_traps,
)
from scripts import one_node_slurm

pytestmark = pytest.mark.usefixtures("cluster", "needs_bwrap")

ON_SLURM = (*OPTIONS, "--slurm", "default")
PATIENCE = 600.0  # timeout in seconds, long enough for a busy machine


class SlurmRun:
    """A running `grader grade --slurm`."""

    def __init__(self, submissions: list[Path], out: Path, *options: str) -> None:
        self.out = out
        parts = ["--course", PRIMES, "grade", *submissions, "--out", out, *ON_SLURM, "--slurm", "per-task=2", *options]
        command = [sys.executable, "-m", "grader", *map(str, parts)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds, and fail if the run exits first."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"it ended first: {self.process.communicate()}"
            assert time.monotonic() < end
            time.sleep(0.1)

    def wait_until_grading(self) -> None:
        """Wait until there is a result and a task is still running."""
        self.wait_until(
            lambda: list_results(self.out) and any(job.state == "RUNNING" for job in self.list_tasks().values())
        )

    def list_tasks(self) -> dict[str, ListedTask]:
        stored = job_record.load(self.out)
        return list_jobs(stored.name) if stored else {}

    def find_running_task(self) -> str:
        return min(id for id, job in self.list_tasks().items() if job.state == "RUNNING")

    def wait(self) -> Run:
        out, err = self.process.communicate(timeout=PATIENCE)
        return Run(self.process.returncode, out, err)


def find_tasks(out: Path) -> list[int]:
    """Return the processes of tasks that grade into `out`."""
    found = []
    for pid in one_node_slurm.list_processes():
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            if (
                words[0] == sys.executable
                and "grader.cluster.chunk" in words
                and any(str(out) in word for word in words)
            ):
                found += [pid] if is_alive(pid) else []
    return found


def assert_complete(out: Path, gradebook: bytes) -> None:
    """Assert that `out` contains the given gradebook, the results of everyone in it, and no other files."""
    assert (out / "gradebook.csv").read_bytes() == gradebook
    names = [row["submission"] for row in csv.DictReader(gradebook.decode().splitlines())]
    assert list_results(out) == names
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    own = [f"{name}/{file}" for name in names for file in ("result.json", "hand_in.json")]
    assert files == {"gradebook.csv", ".seed", *own}


def read_times(out: Path) -> dict[str, int]:
    """Return the modification time of each result."""
    return {name: (out / name / "result.json").stat().st_mtime_ns for name in list_results(out)}


@pytest.fixture(scope="module")
def slow_class(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write four submissions that take seconds to grade; the second one is wrong."""
    return write_slow_class(tmp_path_factory.mktemp("slow"), 2 * SLOW, *NAMES)


@pytest.fixture(scope="module")
def slow_gradebook(slow_class: list[Path], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the gradebook of `slow_class` from a local run without interruptions."""
    out = tmp_path_factory.mktemp("undisturbed")
    assert grade(*slow_class, "--out", out, *OPTIONS, course=PRIMES).code == 0
    return (out / "gradebook.csv").read_bytes()


def control(action: str, folder: Path) -> None:
    """Start, stop or disrupt the Slurm cluster in `folder`."""
    subprocess.run([sys.executable, ROOT / "scripts/one_node_slurm.py", action, folder], check=True, timeout=600)


@pytest.fixture(scope="module")
def cluster(needs_slurm: None) -> Iterator[Path]:
    """Start a single-node Slurm cluster in a folder whose path is short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        control("start", folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SLURM_CONF", f"{folder}/slurm.conf")
            yield folder
    finally:
        control("stop", folder)
        shutil.rmtree(folder)


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


def test_broken_test_is_reported_as_by_local_run(tmp_path: Path) -> None:
    wrong = Path(shutil.copytree(PRIMES, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__", ".*")))
    test = wrong / "tests/test_factorise.py"
    test.write_text(test.read_text("utf-8").replace(*BROKEN), "utf-8")
    paths = write_submissions(tmp_path / "class", SIEVE, "ada", "ben", kata="sieve")
    local = grade(*paths, "--out", tmp_path / "local", *SHORT, "--kata", "factorise", course=wrong)
    slurm = ("--slurm", "default", "--slurm", "per-task=1")
    done = grade(*paths, "--out", tmp_path / "slurm", *SHORT, *slurm, "--kata", "factorise", course=wrong)
    assert local.code == done.code == 3
    assert "test_one_has_no_factors fails with the reference solution" in done.err
    lines = [[line for line in each.err.splitlines() if "again: " not in line] for each in (done, local)]
    assert lines[0] == lines[1], "each call reports the test once, and grades each submission once"
    assert (tmp_path / "slurm/gradebook.csv").read_bytes() == (tmp_path / "local/gradebook.csv").read_bytes()


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
    command += ["--out", "../out", "--kata", "linear", *SHORT, "--slurm", "default"]
    done = subprocess.run(command, cwd=tmp_path / "ada", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert list_results(tmp_path / "out") == ["ada"]
    assert not (tmp_path / "mark").exists()


@pytest.mark.timing
def test_killed_forced_run_keeps_graded_results(slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path) -> None:
    assert grade(*slow_class, "--out", tmp_path, *OPTIONS, "--isolation", "bwrap", course=PRIMES).code == 0
    old = read_times(tmp_path)
    started = SlurmRun(slow_class, tmp_path, "--again")
    started.wait_until(lambda: read_times(tmp_path) != old)
    started.process.kill()
    started.process.communicate()
    end = time.monotonic() + PATIENCE
    while not all(job.ended for job in started.list_tasks().values()) and time.monotonic() < end:
        time.sleep(0.2)
    new = read_times(tmp_path)
    assert all(new[name] > old[name] for name in NAMES)
    again = SlurmRun(slow_class, tmp_path, "--again").wait()
    assert (again.code, "job" in again.out) == (0, False)
    assert read_times(tmp_path) == new
    assert_complete(tmp_path, slow_gradebook)


@pytest.mark.timing
@pytest.mark.parametrize("harm", ["stop-node", "crash"])  # slurmd alone or together with its tasks
def test_run_survives_loss_of_a_node(
    cluster: Path, slow_class: list[Path], slow_gradebook: bytes, tmp_path: Path, harm: str
) -> None:
    started = SlurmRun(slow_class, tmp_path)
    started.wait_until_grading()
    control(harm, cluster)
    before = read_times(tmp_path)
    assert harm == "stop-node" or find_tasks(tmp_path) == []
    control("start-node", cluster)
    done = started.wait()
    assert done.code == 0, done.err
    assert {name: read_times(tmp_path)[name] for name in before} == before
    assert_complete(tmp_path, slow_gradebook)


@pytest.mark.timing
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


@pytest.mark.timing
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
    assert "warning: no other node is left for grading: " in done.err
    assert list_results(out) == []
    assert SlurmRun(slow_class, out).wait().code == 0
    assert_complete(out, slow_gradebook)
