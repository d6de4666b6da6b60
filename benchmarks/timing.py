"""Helpers for timing commands and printing tables."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks import ROOT

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHONDONTWRITE"))}


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
