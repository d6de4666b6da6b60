"""A whole class: how fast, in how much memory, beside plain pytest, and whether a killed run comes back the same.

Run: python -m benchmarks.classes [--submissions N] [--examples E] [--jobs J] [--kata NAME]
"""

import argparse
import difflib
import itertools
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.timing import ENVIRONMENT, grade_command, table
from grader.proof import zoo
from torchkata.course import course

LOOK_SECONDS = 0.1  # between two looks at the memory
SAMPLE = 20  # submissions that plain pytest is run on
RESUMED = 100  # submissions that are graded again, in a run that is killed half-way and resumed
BY_CHANCE = {"seeds_from_the_clock"}  # never twice the same


@dataclass
class Graded:
    """A run of `grader grade` that has ended, and the memory of its main process over time."""

    code: int
    seconds: float
    resident_mib: list[float]


def submissions(count: int) -> Iterator[dict[str, str]]:
    """The files of each submission: every kata the solution's, or by chance one of the zoo's."""
    solution = {name: content.decode() for name, content in course().solutions().items()}
    entries = {
        kata.name: [entry for entry in (*zoo.right(kata), *zoo.wrong(kata)) if entry.name not in BY_CHANCE]
        for kata in course().katas.values()
    }
    chance = random.Random(0)
    for _ in range(count):
        chosen = [chance.choice(of_kata) for of_kata in entries.values() if chance.random() < 0.25]
        yield solution | {f"{entry.kata}.py": entry.source for entry in chosen}


def hand_in(directory: Path, count: int) -> list[Path]:
    """Write a class."""
    paths = []
    for number, files in enumerate(submissions(count)):
        paths.append(directory / f"student{number:04}")
        paths[-1].mkdir()
        for name, source in files.items():
            (paths[-1] / name).write_text(source, "utf-8")
    return paths


def grade(paths: list[Path], out: Path, options: list[str], kill_at: int | None = None) -> Graded:
    """Grade a class; with `kill_at`, only until so many results are stored, then SIGKILL."""
    began = time.perf_counter()
    process = subprocess.Popen(grade_command(paths, out, "--quiet", *options), cwd=ROOT, env=ENVIRONMENT)
    memory = []
    while process.poll() is None:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        memory += [int(found[1]) / 1024] if found else []
        if kill_at is not None and len(list(out.glob("*/result.json"))) >= kill_at:
            process.send_signal(signal.SIGKILL)
            process.wait()
        time.sleep(LOOK_SECONDS)
    return Graded(process.returncode, time.perf_counter() - began, memory)


def plain(path: Path, options: list[str]) -> None:
    """What an instructor without a grader does: pytest on a submission, trusting it. Raises RuntimeError."""
    command = [sys.executable, "-m", "pytest", f"--impl={path}", "--hypothesis-profile=grade", "-q", *options]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])


def main() -> None:
    """Measure, print; fails where a row of the gradebook differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=500, metavar="N")
    parser.add_argument("--examples", type=int, default=100, metavar="E")
    parser.add_argument("--jobs", type=int, default=2, metavar="J")
    parser.add_argument("--kata", action="append", default=[], metavar="NAME")
    arguments = parser.parse_args()
    tests = ["--examples", str(arguments.examples)]
    tests += itertools.chain.from_iterable(("--kata", name) for name in arguments.kata)
    options = ["--jobs", str(arguments.jobs), *tests]
    count = arguments.submissions
    with tempfile.TemporaryDirectory() as folder:
        whole, resumed = Path(folder, "whole"), Path(folder, "resumed")
        Path(folder, "class").mkdir()
        paths = hand_in(Path(folder, "class"), count)
        sample = paths[:: max(1, count // SAMPLE)]
        began = time.perf_counter()
        with ThreadPoolExecutor(arguments.jobs) as pool:
            list(pool.map(lambda path: plain(path, tests if arguments.kata else ["--track", "core", *tests]), sample))
        each = (time.perf_counter() - began) / len(sample)
        run = grade(paths, whole, options)
        again = paths[:: max(1, count // RESUMED)]
        killed = grade(again, resumed, options, kill_at=len(again) // 2)
        kept = len(list(resumed.glob("*/result.json")))
        rest = grade(again, resumed, options)
        names = {path.name for path in again}
        rows = [
            [
                row
                for row in (out / "gradebook.csv").read_bytes().splitlines()
                if row.split(b",")[0].strip(b'"').decode() in names
            ]
            for out in (whole, resumed)
        ]
    tenth = max(1, len(run.resident_mib) // 10)
    first, last = max(run.resident_mib[: 2 * tenth][tenth:]), max(run.resident_mib[-tenth:])
    table(
        [
            (f"{count} submissions, {arguments.examples} examples, {arguments.jobs} jobs", "", ""),
            ("exit codes", f"{run.code}, {killed.code}, {rest.code}", "uninterrupted, killed, resumed"),
            ("submissions per minute", f"{count / run.seconds * 60:.1f}", f"{run.seconds:.0f} s in all"),
            ("÷ plain pytest", f"{run.seconds / count / each:.2f}", f"{len(sample)} of them, as many at a time"),
            ("memory of the grader, MiB", f"{max(run.resident_mib):.0f}", "at its peak"),
            ("", f"{first:.0f}", "in the second tenth of the run; the first imports torch"),
            ("", f"{last:.0f}", f"in the last tenth: {last / first:.2f} times as much (aim ≤ 1.05)"),
            ("again, killed half-way", f"{kept} of {len(again)}", "were stored, and kept"),
            ("the rest", f"{rest.seconds:.0f} s", ""),
            (
                "rows of the gradebook",
                "the same" if rows[0] == rows[1] else "DIFFERENT",
                f"{len(rows[0])}, byte for byte",
            ),
        ]
    )
    if rows[0] != rows[1] or len(rows[0]) != len(again):
        one, other = (b"\n".join(of_run).decode().splitlines() for of_run in rows)
        sys.exit("\n".join(difflib.unified_diff(one, other, "uninterrupted", "resumed", lineterm="", n=0)))


if __name__ == "__main__":
    main()
