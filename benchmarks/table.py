"""Measure how long students and instructors wait, as ratios to a baseline that runs in the same round.

Run: python -m benchmarks.table [ROUNDS]

A round runs every command once, one after the other, so that a change in the load of the machine affects all of them.
The table shows medians. It has a column with the processor time of all processes, workers included, where this user can
create a control group for it; the wall time is meaningless while other programs run.
"""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from benchmarks import ROOT
from torchkata.cli import runs
from torchkata.course import course

ROUNDS = 3
GROUPS = Path("/sys/fs/cgroup/cpuacct")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHONDONTWRITE"))}
HEAVIEST = 3  # number of katas that are listed
BARE, IMPORT = "bare pytest", "import torch"


class Time(NamedTuple):
    """A time in seconds, by the clock and by the processors. The second is NaN if it can't be measured."""

    wall: float
    cpu: float

    def __sub__(self, other: "Time") -> "Time":
        return Time(self.wall - other.wall, self.cpu - other.cpu)

    def divide(self, by: float) -> "Time":
        """Return a share of the time."""
        return Time(self.wall / by, self.cpu / by)


def measure(use: Callable[[Callable[[], None]], object]) -> Time:
    """Return the time that `use` takes. It must make each process that it starts call the function that it is given."""
    group = GROUPS / f"torchkata-{os.getpid()}-{time.monotonic_ns()}"
    with suppress(OSError):
        group.mkdir()

    def join() -> None:
        with suppress(OSError):
            (group / "tasks").write_text(str(os.getpid()))

    began = time.perf_counter()
    use(join)
    wall, cpu = time.perf_counter() - began, float("nan")
    with suppress(OSError):
        cpu = int((group / "cpuacct.usage").read_text()) / 1e9
        group.rmdir()
    return Time(wall, cpu)


def run(*command: object, code: int = 0, cache: Path | None = None) -> Time:
    """Return the time of `python …`. Raises RuntimeError if the exit code is not `code`."""
    environment = ENVIRONMENT | ({"XDG_CACHE_HOME": str(cache)} if cache else {})

    def start(join: Callable[[], None]) -> None:
        call = [sys.executable, *map(str, command)]
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, preexec_fn=join)
        if done.returncode != code:
            raise RuntimeError(f"{' '.join(call)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    return measure(start)


def grade(*names: str, folder: Path, jobs: int = 1) -> Time:
    """Return the time of grading these submissions under a new seed, with an empty cache."""
    with tempfile.TemporaryDirectory(dir=folder) as new:
        paths, options = [folder / name for name in names], ("--isolation", "bwrap", "--jobs", jobs)
        return run("-m", "grader", "grade", *paths, "--out", f"{new}/out", *options, cache=Path(new))


def save(kata: str) -> Time:
    """Return the time until `kata watch` has run the tests of a correct kata after it is saved again."""
    runs.load(course().katas[kata].preload)
    with tempfile.TemporaryFile() as output:

        def start(join: Callable[[], None]) -> None:
            before = os.fork()
            if before == 0:  # a copy of this process, as it is before `kata watch` forks it
                join()
                code = runs.Forked([f"--kata={kata}", "--impl=solution"], output).wait()
                os._exit(code)
            if os.waitpid(before, 0)[1]:
                output.seek(0)
                raise RuntimeError(output.read().decode()[-2000:])

        return measure(start)


def take_median(times: Sequence[Time]) -> Time:
    """Return the medians of both times."""
    return Time(statistics.median(one.wall for one in times), statistics.median(one.cpu for one in times))


def write_submissions(folder: Path) -> None:
    """Write six correct submissions, and `wrong`, in which one kata is not started."""
    graded = course().choose([], course().graded)
    for name in ("ada", "ben", "cem", "dan", "eva", "fay", "wrong"):
        (folder / name).mkdir()
        for kata in graded:
            shutil.copy(course().solution(kata.name), folder / name / f"{kata.name}.py")
    shutil.copy(course().stub("linear"), folder / "wrong")


def main(rounds: int) -> None:
    """Run the benchmark and print the table."""
    os.chdir(ROOT)
    runs.load()
    pytest = (
        "-m",
        "pytest",
        "--impl",
        "solution",
        "--track",
        ",".join(course().graded),
        "--hypothesis-profile",
        "grade",
    )
    with tempfile.TemporaryDirectory(prefix="torchkata-benchmark-") as name:
        write_submissions(folder := Path(name))
        commands: dict[str, Callable[[], Time]] = {
            IMPORT: partial(run, "-c", "import torch"),
            "pytest, untouched stubs": partial(run, "-m", "pytest", code=1),
            BARE: partial(run, *pytest),
            "one correct submission": partial(grade, "ada", folder=folder),
            "one with a kata not started": partial(grade, "wrong", folder=folder),
            "two": partial(grade, "ada", "ben", folder=folder),
            "four": partial(grade, "ada", "ben", "cem", "dan", folder=folder),
            "six submissions, two jobs": partial(
                grade, "ada", "ben", "cem", "dan", "eva", "fay", folder=folder, jobs=2
            ),
        }
        run("-m", "pytest", code=1)  # compile bytecode
        times = {name: [command()] for name, command in commands.items()}
        for _ in range(rounds - 1):
            for name, command in commands.items():
                times[name].append(command())
    found = {name: take_median(taken) for name, taken in times.items()}
    found["a further submission"] = (found.pop("four") - found.pop("two")).divide(2)
    katas = sorted(((save(kata), kata) for kata in course().katas), reverse=True)
    found |= {f"{kata} on save": taken for taken, kata in (*katas[:HEAVIEST], katas[len(katas) // 2])}
    print_table(found, rounds)


def print_table(found: dict[str, Time], rounds: int) -> None:
    """Print each time and its ratios to the two baselines."""
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"{date.today()}, {cores} cores, {versions}, medians of {rounds} rounds, load {load:.1f}")
    print(f"{'':<32}{'wall':>8}{'cpu':>8}{'÷ import':>10}{'÷ bare':>8}")
    for name, taken in found.items():
        key = 0 if taken.cpu != taken.cpu else 1  # ratios of processor times where there are any
        ratios = [taken[key] / found[base][key] for base in (IMPORT, BARE)]
        print(f"{name:<32}{taken.wall:>8.2f}{taken.cpu:>8.2f}{ratios[0]:>10.2f}{ratios[1]:>8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else ROUNDS)
