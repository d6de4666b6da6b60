"""Measures time and memory on this machine's GPU, in the process that uses the GPU."""

import gc
import time
from collections.abc import Callable

import torch

from .sizes import Kind


class Stopwatch:
    """Measures torch's current CUDA device with the clock of this process, after synchronizing with the device."""

    kind: Kind = "cuda"

    def __init__(self, name: str) -> None:
        self.name = name  # the device's name in `devices.toml`

    def free_bytes(self) -> int:
        """Return the free memory of the device, after emptying torch's caching allocator."""
        gc.collect()
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    def seconds(self, work: Callable[[], object]) -> float:
        """Return the number of seconds that the device takes for this work."""
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - began

    def lead(self, work: Callable[[], object]) -> float:
        """Return for how many seconds the device remains busy after the host has queued this work."""
        torch.cuda.synchronize()
        work()
        back = time.perf_counter()
        torch.cuda.synchronize()
        return time.perf_counter() - back

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """Return the peak memory allocated by this work, in bytes."""
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before


def find_gpu() -> Stopwatch | str:
    """Return a stopwatch for this machine's GPU, or the reason why it cannot be timed."""
    if torch.cuda.is_available():
        return Stopwatch(torch.cuda.get_device_name())
    if torch.version.cuda is None:
        return "this torch is built without CUDA"
    return "torch finds no CUDA device on this machine"
