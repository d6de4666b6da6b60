"""Computes how many submissions this machine can grade at the same time."""

import os
import sys
from pathlib import Path

from grader.sandbox.launch import GRADER_MIB
from torchkata.course import course


def count_jobs() -> int:
    """Return the default of `--jobs`: one submission per core, as far as there is enough memory for them."""
    cores, free = count_cores(), measure_free_mib()
    return cores if free is None else max(1, min(cores, count_jobs_in_memory(free)))


def count_cores() -> int:
    """Return the number of cores that are available to this process."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def count_jobs_in_memory(free: int) -> int:
    """Return how many submissions can be graded at the same time if so many MiB are free."""
    return max(0, (free - GRADER_MIB) // course().limits.memory_mib)


def measure_free_mib(root: Path = Path("/")) -> int | None:
    """Return the free memory of this machine or container in MiB, or None if it is unknown."""
    meminfo, share = root / "proc/meminfo", root / "sys/fs/cgroup"
    if not meminfo.exists():
        return None
    lines = (line.split() for line in meminfo.read_text().splitlines())
    free = next(int(line[1]) for line in lines if line[0] == "MemAvailable:") // 1024
    if (share / "memory.max").exists() and (most := (share / "memory.max").read_text().strip()) != "max":
        free = min(free, (int(most) - int((share / "memory.current").read_text())) // 2**20)
    return free
