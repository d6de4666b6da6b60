"""What torch does, counted on meta tensors, which have shapes and no elements: FLOPs of products, bytes moved.

A grader's test holds the FLOPs against `torch.utils.flop_counter`, which takes half as long to import as torch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class Meter(TorchDispatchMode):
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
    with Meter() as meter:
        work()
    return meter


def meta(shape: list[int], dtype: torch.dtype = torch.float32, needs_grad: bool = False) -> Tensor:
    """A tensor of shape and dtype alone."""
    return torch.empty(shape, dtype=dtype, device="meta", requires_grad=needs_grad)
