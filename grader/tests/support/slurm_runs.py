"""Runs `grader grade` on Slurm so that a test can watch and disrupt it."""

import csv
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from grader.cluster import record
from grader.cluster.slurm import Job, list_jobs
from grader.tests import ROOT
from grader.tests.conftest import Run
from grader.tests.support.processes import is_alive
from grader.tests.support.submissions import OPTIONS, PRIMES, SHORT, list_results
from scripts import one_node_slurm

ON_SLURM = (*OPTIONS, "--executor", "slurm")
PATIENCE = 600.0  # timeout in seconds, long enough for a busy machine


class SlurmRun:
    """A running `grader grade --executor slurm`."""

    def __init__(
        self, submissions: list[Path], out: Path, *options: str, course: Path = PRIMES, kata: str = "sieve"
    ) -> None:
        self.out = out
        parts = ["--course", course, "grade", *submissions, "--out", out, "--kata", kata, *SHORT]
        parts += ["--executor", "slurm", "--per-task", "2", *options]
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
        """Wait until a result has been stored and a task is running."""
        self.wait_until(
            lambda: list_results(self.out) and any(job.state == "RUNNING" for job in self.list_tasks().values())
        )

    def list_tasks(self) -> dict[str, Job]:
        stored = record.load(self.out)
        return list_jobs(stored.name) if stored else {}

    def find_running_task(self) -> str:
        return min(id for id, job in self.list_tasks().items() if job.state == "RUNNING")

    def wait(self) -> Run:
        out, err = self.process.communicate(timeout=PATIENCE)
        return Run(self.process.returncode, out, err)


def find_processes(out: Path, module: str) -> list[int]:
    """Return the processes that run this module for tasks that write to `out`, parents before children."""
    found = []
    for pid in one_node_slurm.list_processes():
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            if words[0] == sys.executable and module in words and any(str(out) in word for word in words):
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
