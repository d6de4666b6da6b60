"""Counts the FLOPs and bytes of torch operations, and the bytes that autograd saves.

A unit test of the grader compares the FLOPs with `torch.utils.flop_counter`. Tests of katas run small tensors on the
CPU instead, because that module is slow to import and meta tensors are slow on first use.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkata import DispatchMode


class Meter(DispatchMode):  # type: ignore[no-untyped-call]
    """A mode that counts the bytes of all operations except views, and the FLOPs of matmuls, whose inputs it keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.flops = 0
        self.bytes = 0
        self.factors: list[Tensor] = []  # the inputs of matmuls

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the operation and count it."""
        result = func(*args, **(kwargs or {}))
        if func in (torch.ops.aten.mm.default, torch.ops.aten.bmm.default):
            self.flops += 2 * args[0].numel() * args[1].shape[-1]
            self.factors += args
        if not func.is_view:
            self.bytes += sum(each.numel() * each.itemsize for each in (*args, result) if isinstance(each, Tensor))
        return result


def count_operations(work: Callable[[], object]) -> Meter:
    """Run `work`, and return a meter that has counted its FLOPs and bytes."""
    meter = Meter()
    with meter:
        work()
    return meter


def measure_saved(work: Callable[[], object], parameters: Sequence[Tensor]) -> list[int]:
    """Run `work`, and return the bytes of each storage that autograd saves, except those of the parameters."""
    saved: dict[int, int] = {}

    def record(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(record, lambda tensor: tensor):
        work()
    own = {parameter.untyped_storage().data_ptr() for parameter in parameters}
    return [size for place, size in saved.items() if place not in own]
