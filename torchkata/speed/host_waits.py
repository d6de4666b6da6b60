"""Detects operations that make the host wait for the device (synchronization points).

On a CPU, these operations are counted. On a GPU, the host must return while the device is still busy with earlier work.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from torch import Tensor

from torchkata.compat.torch_internals import DispatchMode, keep_gpu_busy

BUSY_CYCLES = 100_000_000  # GPU clock cycles: 50 ms or more
LEAD_SECONDS = 0.025  # half of the busy time; a host that returns this long before the device finishes has not waited
HOST_READS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero")  # operations that wait


class HostReads(DispatchMode):  # type: ignore[no-untyped-call]
    """Counts operations that would make the host wait for a device."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation, and count it if it makes the host wait."""
        self.count += func.overloadpacket.__name__ in HOST_READS
        return func(*args, **(kwargs or {}))

    def count_calls(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a Tensor method that copies values to the host without dispatching an operation, to count its calls."""

        def counting(*args: Any, **options: Any) -> Any:
            self.count += 1
            return method(*args, **options)

        return counting


def host_reads(work: Callable[[], object]) -> int:
    """Run the work, and count how often it would make the host wait for a GPU."""
    reads = HostReads()
    with ExitStack() as stack:
        for name in ("tolist", "numpy", "cpu", "__array__"):
            stack.enter_context(patch.object(Tensor, name, reads.count_calls(getattr(Tensor, name))))
        stack.enter_context(reads)
        work()
    return reads.count


def keep_busy() -> None:
    """Queue work that keeps the GPU busy for at least 50 ms."""
    keep_gpu_busy(BUSY_CYCLES)
