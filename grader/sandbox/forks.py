"""What must hold in a process that forks: a child of one that has started CUDA can never use it. How it forks fast."""

import ctypes
import os
from pathlib import Path

DRIVER = "libcuda.so"
HUGE = 2**21  # bytes of a huge page
MADV_COLLAPSE = 25


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


def collapse_memory() -> None:
    """Move what this process holds into huge pages: with torch, it forks three times as fast from then on.

    It takes as long as about 15 forks. Before Linux 6.1, which can't, this changes nothing.
    """
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    madvise = ctypes.CDLL(None).madvise
    for line in maps.read_text().splitlines():
        addresses, rights, _, _, _, *name = line.split(maxsplit=5)
        if rights == "rw-p" and name in ([], ["[heap]"]):
            begin, end = (int(address, 16) for address in addresses.split("-"))
            begin, end = -(-begin // HUGE) * HUGE, end // HUGE * HUGE
            if begin < end:
                madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_COLLAPSE)
