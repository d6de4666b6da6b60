"""Times work on this machine's own GPU, from within the process that does it: for a student's own eyes.

Whoever shares a process with a clock can change it, so nothing is graded by this one.
"""

import gc
import time
from collections.abc import Callable
from typing import Protocol

import torch

from .sizes import Kind


class Stopwatch(Protocol):
    """A device, and the clock beside it."""

    kind: Kind
    name: str  # as the table of devices has it

    def free_bytes(self) -> int:
        """How much of its memory nobody uses."""

    def seconds(self, work: Callable[[], object]) -> float:
        """From when the device begins this work until it has done it."""

    def lead(self, work: Callable[[], object]) -> float:
        """For how many seconds the device still works when the host is back from queueing this."""

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """The most memory that this work holds at one time."""


class Cuda:
    """torch's current CUDA device, timed by CUDA's events."""

    kind: Kind = "cuda"

    def __init__(self) -> None:
        self.name = torch.cuda.get_device_name()

    def free_bytes(self) -> int:
        """Bytes, those included that torch keeps for later."""
        gc.collect()
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    def seconds(self, work: Callable[[], object]) -> float:
        """Between two events around the work."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        begin.record()
        work()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3

    def lead(self, work: Callable[[], object]) -> float:
        """By the host's clock."""
        torch.cuda.synchronize()
        work()
        back = time.perf_counter()
        torch.cuda.synchronize()
        return time.perf_counter() - back

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """Of tensors, over what there were before."""
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before


def here() -> Cuda | str:
    """This machine's GPU, or why it can't be timed."""
    if torch.cuda.is_available():
        return Cuda()
    if torch.version.cuda is None:
        return "this torch is built without CUDA"
    return "torch finds no CUDA device on this machine"
