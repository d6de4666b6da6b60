"""Seconds of a command, and ratios as a table."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks import ROOT

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHONDONTWRITE"))}


def seconds(*command: str, repeats: int = 1, code: int = 0) -> float:
    """The median wall time of `python …`. Raises RuntimeError where it does not end with `code`."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
        taken.append(time.perf_counter() - began)
        if done.returncode != code:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return statistics.median(taken)


def table(rows: Sequence[tuple[str, str, str]]) -> None:
    """Print what was measured, the figure, and what we aim at."""
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
