"""A run of `grader grade` on Slurm that tests can watch and do harm to."""

import csv
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from grader.cluster import record
from grader.cluster.slurm import Job, list_jobs
from grader.tests import ROOT
from grader.tests.conftest import Run
from grader.tests.support.processes import lives
from grader.tests.support.submissions import OPTIONS, PRIMES, SHORT, results
from scripts import one_node_slurm

ON_SLURM = (*OPTIONS, "--executor", "slurm")
PATIENCE = 600.0  # seconds that anything here may take on a busy machine


class Started:
    """A run of `grader grade --executor slurm` that goes on while a test does harm to it."""

    def __init__(
        self, submissions: list[Path], out: Path, *options: str, course: Path = PRIMES, kata: str = "sieve"
    ) -> None:
        self.out = out
        parts = ["--course", course, "grade", *submissions, "--out", out, "--kata", kata, *SHORT]
        parts += ["--executor", "slurm", "--per-task", "2", *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader", *map(str, parts)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, moment: Callable[[], object]) -> None:
        """Wait until something is so, while it runs."""
        end = time.monotonic() + PATIENCE
        while not moment():
            assert self.process.poll() is None, f"it ended first: {self.process.communicate()}"
            assert time.monotonic() < end
            time.sleep(0.1)

    def until_it_grades(self) -> None:
        """Wait until the first result is there, and a task runs."""
        self.until(lambda: results(self.out) and any(job.state == "RUNNING" for job in self.jobs().values()))

    def jobs(self) -> dict[str, Job]:
        """Its tasks, as Slurm knows them."""
        stored = record.load(self.out)
        return list_jobs(stored.name) if stored else {}

    def first_running(self) -> str:
        """The id of a task that runs."""
        return min(id for id, job in self.jobs().items() if job.state == "RUNNING")

    def ended(self) -> Run:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return Run(self.process.returncode, out, err)


def processes(out: Path, module: str) -> list[int]:
    """The processes that run a module for the tasks that grade into `out`, nearest to Slurm first."""
    found = []
    for pid in one_node_slurm.list_processes():
        try:
            said = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        except OSError:
            continue
        if said[0] == sys.executable and module in said and any(str(out) in part for part in said) and lives(pid):
            found.append(pid)
    return found


def is_whole(out: Path, gradebook: bytes) -> None:
    """Everybody is graded, as by a local run, and nothing else is left."""
    assert (out / "gradebook.csv").read_bytes() == gradebook
    names = [row["submission"] for row in csv.DictReader(gradebook.decode().splitlines())]
    assert results(out) == names
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    own = [f"{name}/{file}" for name in names for file in ("result.json", "hand_in.json")]
    assert files == {"gradebook.csv", ".seed", *own}


def times(out: Path) -> dict[str, int]:
    """When each result was written."""
    return {name: (out / name / "result.json").stat().st_mtime_ns for name in results(out)}
