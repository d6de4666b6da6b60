"""Computes how much device memory a workload needs, and chooses a size and a number of calls that fit."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torchkata.inside.speed.layout import bytes_needed
from torchkata.inside.speed.sizes import Size
from torchkata.inside.speed.workload import Rate
from torchkata.inside.text import Text

MOST_CALLS = 2**16
PROCESSES = 3  # the grader and the workers of both sides
CONTEXT_BYTES = 5 * 2**27  # what a process needs for its context, its kernels and the workspace of cuBLAS
SHARE_OF_GPU = 0.85  # the share of a device's memory that a workload may need
SMALLEST = 8  # sizes are at least this fraction of the whole size


class NoRoom(Exception):
    """Raised if a workload does not fit into a device's memory. The note says how much it needs."""

    def __init__(self, note: Text) -> None:
        super().__init__(str(note))
        self.note = note


def bytes_for(work: Rate, size: Size, calls: int) -> int:
    """Return the device memory that a workload needs while both sides are set up.

    Each side has its tensors, a copy of its results, its check, and what its code allocates.
    """
    fields = work.fields(size, calls)
    results = {name: field for name, field in fields.items() if field.role != "given"}
    tensors = bytes_needed(fields, on_host=False) + bytes_needed(results, on_host=False)
    side = tensors + work.check_bytes(size, calls) + work.working_bytes(size, calls)
    return 2 * side + PROCESSES * CONTEXT_BYTES


def most_calls(needed: Callable[[int], int], room: int) -> int:
    """Return the largest number of calls that needs at most `room` bytes, or 0 if a single call needs more."""
    return bisect_right(range(MOST_CALLS), room, lo=1, key=needed) - 1


def fit(work: Rate, whole: Size, room: int, least: int = 1) -> tuple[Size, int]:
    """Return the largest size of which `least` calls fit into `room` bytes, and how many calls fit.

    The size is halved in the dimensions that the workload names. Raises NoRoom if the smallest size does not fit.
    """
    part = 1
    while True:
        size = replace(whole, **{name: getattr(whole, name) // part for name in work.shrinks})
        if (calls := most_calls(partial(bytes_for, work, size), room)) >= least:
            return size, calls
        if part == SMALLEST:
            figures = {"needed": f"{bytes_for(work, size, least) / 2**30:.1f}", "free": f"{room / 2**30:.1f}"}
            raise NoRoom(Text("needs {needed} GiB of device memory, but only {free} GiB can be used", **figures))
        part *= 2
