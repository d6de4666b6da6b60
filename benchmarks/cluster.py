"""What Slurm costs: a class on a cluster of one node against the same two cores without it.

Run: python -m benchmarks.cluster [--submissions N] [--examples E] [--kata NAME]; as root, with slurm-wlm and munge
"""

import argparse
import itertools
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import ROOT
from benchmarks.classes import hand_in
from benchmarks.timing import ENVIRONMENT, grade_command, table
from scripts import one_node_slurm

JOBS = 2


def main() -> None:
    """Measure, print; fails where a gradebook differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=40, metavar="N")
    parser.add_argument("--examples", type=int, default=100, metavar="E")
    parser.add_argument("--kata", action="append", default=[], metavar="NAME")
    arguments = parser.parse_args()
    options = ["--examples", str(arguments.examples)]
    options += itertools.chain.from_iterable(("--kata", name) for name in arguments.kata)
    lacking = one_node_slurm.missing()
    if lacking:
        sys.exit(f"Slurm can't be started here: {lacking}")
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        Path(folder).chmod(0o755)  # as munge demands
        cluster = Path(folder, "cluster")
        one_node_slurm.start(cluster)
        try:
            measure(Path(folder), arguments.submissions, options, cluster)
        finally:
            one_node_slurm.stop(cluster)


def measure(folder: Path, count: int, options: list[str], cluster: Path) -> None:
    """Grade the class both ways."""
    (folder / "class").mkdir()
    paths = hand_in(folder / "class", count)
    here, _ = grade(paths, folder / "local", options, cluster)
    there, said = grade(paths, folder / "slurm", [*options, "--executor", "slurm"], cluster)
    (job,) = re.findall(r"^job (\d+):", said, re.MULTILINE)
    running = task_seconds(job, cluster)
    grading = sum(json.loads(path.read_text())["seconds"] for path in (folder / "slurm").glob("*/result.json"))
    same = (folder / "local/gradebook.csv").read_bytes() == (folder / "slurm/gradebook.csv").read_bytes()
    table(
        [
            (f"{count} submissions, {' '.join(options)}, --jobs {JOBS}", "", ""),
            ("on this machine", f"{here:.0f} s", ""),
            (f"on Slurm, {len(running)} tasks", f"{there:.0f} s", f"{there / here:.2f} times as long"),
            ("a task", f"{statistics.mean(running):.0f} s", ""),
            ("of it not grading", f"{(sum(running) - grading) / len(running):.1f} s", "imports, sandbox, Slurm's own"),
            ("gradebooks", "the same" if same else "DIFFERENT", "byte for byte"),
        ]
    )
    if not same:
        sys.exit(1)


def grade(paths: list[Path], out: Path, options: list[str], cluster: Path) -> tuple[float, str]:
    """Seconds of `grader grade`, and what it printed. Raises CalledProcessError."""
    command = grade_command(paths, out, "--jobs", str(JOBS), *options)
    environment = {**ENVIRONMENT, "SLURM_CONF": f"{cluster}/slurm.conf"}
    began = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return time.perf_counter() - began, done.stdout


def task_seconds(job: str, cluster: Path) -> list[int]:
    """How long each task of an array ran."""
    said = one_node_slurm.told(cluster, "scontrol", "show", "job", job)
    times = re.findall(r"RunTime=(\d+):(\d+):(\d+)", said)
    return [int(hours) * 3600 + int(minutes) * 60 + int(seconds) for hours, minutes, seconds in times]


if __name__ == "__main__":
    main()
