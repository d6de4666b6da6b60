"""Measure how processor time and peak memory grow with the size of a class, for all commands that read its results.

Run: python -m benchmarks.scale RESULTS [--sizes 50 500 5000]

RESULTS is the directory of a graded class. Its results are copied under new names until the class is large enough.
The script measures processor time, because it depends less on the load of the machine than wall time.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks import ROOT
from benchmarks.timing import ENVIRONMENT
from grader.results.load import list_results
from grader.results.result import Result, read, write
from grader.results.source import FILE

COMMANDS = {
    "report": ["report", "CLASS"],
    "export gradescope": ["export", "CLASS", "--format", "gradescope", "--to", "TO"],
    "export junit": ["export", "CLASS", "--format", "junit", "--to", "TO"],
    "export github": ["export", "CLASS", "--format", "github", "--to", "TO"],
    "diff": ["diff", "CLASS", "CLASS"],
}


def main() -> None:
    """Print a table with a row for each command and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 500, 5000])
    options = parser.parse_args()
    originals = [read(path) for path in list_results(options.results).values()]
    if not originals:
        parser.error(f"{options.results}: contains no results")
    print(f"{'command':18} {'submissions':>11} {'CPU seconds':>11} {'÷ submissions':>15} {'peak MiB':>9}")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            class_folder = Path(folder) / "class"
            make_class(originals, options.results, class_folder, size)
            for name, command in COMMANDS.items():
                to = Path(folder) / name.replace(" ", "_")
                words = [{"CLASS": str(class_folder), "TO": str(to)}.get(word, word) for word in command]
                seconds, peak = run_grader(words)
                print(f"{name:18} {size:11,} {seconds:11.2f} {1000 * seconds / size:12.1f} ms {peak:9.0f}", flush=True)


def make_class(originals: list[Result], source: Path, to: Path, size: int) -> None:
    """Write a class of this size that consists of copies of the originals."""
    for number, original in zip(range(size), itertools.cycle(originals)):
        name = f"student{number:05}"
        write(msgspec.structs.replace(original, submission=name), to)
        code = source / original.submission / FILE
        if code.exists():
            (to / name / FILE).write_bytes(code.read_bytes())


def run_grader(words: list[str]) -> tuple[float, float]:
    """Return the processor time in seconds and the peak memory in MiB of a command. Raises RuntimeError if it fails."""
    command = [sys.executable, "-m", "grader", *words]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"grader {' '.join(words)} exited with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**10


if __name__ == "__main__":
    main()
