"""The clock and the memory of this machine's own GPU, read from within the process that works on it."""

import gc
import time
from collections.abc import Callable

import torch

from .sizes import Kind


class Stopwatch:
    """torch's current CUDA device, timed by this process's clock around work that the device has finished."""

    kind: Kind = "cuda"

    def __init__(self, name: str) -> None:
        self.name = name  # as the table of devices has it

    def free_bytes(self) -> int:
        """Return the free memory of the device, with the memory that torch keeps for later."""
        gc.collect()
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    def seconds(self, work: Callable[[], object]) -> float:
        """Return how long the device takes for this work."""
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - began

    def lead(self, work: Callable[[], object]) -> float:
        """Return for how many seconds the device still works when the host has queued this work."""
        torch.cuda.synchronize()
        work()
        back = time.perf_counter()
        torch.cuda.synchronize()
        return time.perf_counter() - back

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """Return the most memory that tensors of this work hold at one time."""
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before


def here() -> Stopwatch | str:
    """Return this machine's GPU, or why it can't be timed."""
    if torch.cuda.is_available():
        return Stopwatch(torch.cuda.get_device_name())
    if torch.version.cuda is None:
        return "this torch is built without CUDA"
    return "torch finds no CUDA device on this machine"
