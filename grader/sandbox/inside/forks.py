"""Checks that a process may fork, and speeds up forks. A child can't use CUDA if its parent has initialized it."""

import ctypes
import os
from pathlib import Path

DRIVER = "libcuda.so"  # the file name without the version at its end
NOT_INITIALIZED = 3  # the result of every call to the driver before `cuInit`
HUGE = 2**21  # size of a huge page in bytes
MADV_COLLAPSE = 25


class ForkError(Exception):
    """Raised if a forked child would be unusable. The message gives the reason."""


def demand_no_cuda() -> None:
    """Raise ForkError if CUDA is initialized, for example by counting devices or by a first `backward()`.

    The driver may be loaded, because importing torch loads it in some builds (with cuBLAS 12.4, for example).
    """
    try:
        driver = ctypes.CDLL(f"{DRIVER}.1", mode=getattr(os, "RTLD_NOLOAD", 0))
    except OSError:  # not loaded
        return
    if driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_INITIALIZED:
        raise ForkError("this process has initialized CUDA, so its forked children can't use a GPU")


def demand_one_thread() -> None:
    """Raise ForkError if another thread is running, because any lock that it holds would stay locked in a child."""
    tasks = Path("/proc/self/task")
    if tasks.exists() and (others := [task for task in tasks.iterdir() if int(task.name) != os.getpid()]):
        names = ", ".join(sorted((task / "comm").read_text().strip() for task in others))
        raise ForkError(f"this process runs {len(others)} other threads ({names}), which a forked child would lack")


def collapse_memory() -> None:
    """Move the memory of this process into huge pages, which makes forks three times as fast if torch is loaded.

    This takes about as long as 15 forks. It requires Linux 6.1 and has no effect on earlier versions.
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
