"""Measure how long a student waits, relative to the time of `import torch`. Run: python -m benchmarks.student"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks import ROOT

REPEATS = 5
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHONDONTWRITE"))}


def main() -> None:
    """Run the benchmark and print the table."""
    for command in (("-c", "import torch"), ("-m", "pytest", "--impl", "solution")):
        time_command(*command)  # warm up the disk cache and compile bytecode
    base = time_command("-c", "import torch", repeats=REPEATS)
    solution = ("-m", "pytest", "--impl", "solution")
    runs = {
        "pytest on untouched stubs": (time_command("-m", "pytest", repeats=REPEATS, code=1), 2.5),
        "pytest --kata linear": (time_command(*solution, "--kata", "linear", repeats=REPEATS), 2.5),
        "all katas, 25 examples": (time_command(*solution, repeats=REPEATS), 4.0),
        "all katas, 100 examples": (time_command(*solution, "--hypothesis-profile", "grade", repeats=3), 6.0),
    }
    rows = [("cold, median", "seconds", "÷ import torch"), ("import torch", f"{base:.2f}", "1.0")]
    rows += [(name, f"{taken:.2f}", f"{taken / base:.1f}  (aim ≤ {aim:g})") for name, (taken, aim) in runs.items()]
    print_table(rows)


def time_command(*command: str, repeats: int = 1, code: int = 0) -> float:
    """Return the median wall time of `python …` in seconds. Raises RuntimeError if the exit code is not `code`."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
        taken.append(time.perf_counter() - began)
        if done.returncode != code:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return statistics.median(taken)


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in aligned columns, such as a measurement, its value, and a ratio or target."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
