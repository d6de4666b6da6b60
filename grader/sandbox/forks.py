"""What must hold in a process that forks: a child of one that has started CUDA can never use it."""

import os
from pathlib import Path

DRIVER = "libcuda.so"


class ForkError(Exception):
    """No child of this process could do its work; the message says why."""


def demand_no_driver() -> None:
    """Raises ForkError where the CUDA driver is loaded: asking torch for devices or a first `backward()` do that."""
    maps = Path("/proc/self/maps")
    if maps.exists() and DRIVER in maps.read_text():
        raise ForkError("this process has loaded the CUDA driver, so no process that it forks can use a GPU")


def demand_one_thread() -> None:
    """Raises ForkError where another thread runs: what it holds locked stays locked in a child."""
    tasks = Path("/proc/self/task")
    if tasks.exists() and (others := [task for task in tasks.iterdir() if int(task.name) != os.getpid()]):
        names = ", ".join(sorted((task / "comm").read_text().strip() for task in others))
        raise ForkError(f"this process runs {len(others)} more threads ({names}), which no child of it has")
