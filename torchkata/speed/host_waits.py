"""What makes a host wait for a device: counted on a CPU; on a GPU seen, behind work that keeps it busy."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from torch import Tensor

from torchkata.compat.torch_internals import DispatchMode, keep_gpu_busy

BUSY_CYCLES = 100_000_000  # of the GPU's clock: 50 ms or more
LEAD_SECONDS = 0.025  # half of that: a host that is back so much earlier than the device has not waited
HOST_READS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero")  # what waits for a device


class HostReads(DispatchMode):  # type: ignore[no-untyped-call]
    """Counts what would make the host wait for a device."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """One operation."""
        self.count += func.overloadpacket.__name__ in HOST_READS
        return func(*args, **(kwargs or {}))

    def counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method of Tensor that takes its numbers to the host without an operation of its own."""

        def counting(*args: Any, **options: Any) -> Any:
            self.count += 1
            return method(*args, **options)

        return counting


def host_reads(work: Callable[[], object]) -> int:
    """How often this work would wait, if it were done on a GPU."""
    reads = HostReads()
    with ExitStack() as stack:
        for name in ("tolist", "numpy", "cpu", "__array__"):
            stack.enter_context(patch.object(Tensor, name, reads.counted(getattr(Tensor, name))))
        stack.enter_context(reads)
        work()
    return reads.count


def keep_busy() -> None:
    """Queue what takes a GPU some time."""
    keep_gpu_busy(BUSY_CYCLES)
