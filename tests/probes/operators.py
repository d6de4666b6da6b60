"""Measures the cost of a student's code, operator by operator: the memory that it keeps alive, and its matmuls."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from torchkata import DispatchMode

aten = torch.ops.aten
FIRST_FACTOR = {aten.mm: 0, aten.bmm: 0, aten.mv: 0, aten.addmm: 1, aten.baddbmm: 1, aten.addmv: 1}  # argument index


class Operators(DispatchMode):  # type: ignore[no-untyped-call]
    """A mode that observes all operators, including those of a backward pass.

    Memory is the total size of the floating-point tensors that operators have created and that are still referenced
    anywhere. It excludes the `inputs` and any tensor of a parameter's size, such as a gradient.
    """

    def __init__(self, inputs: Iterable[Tensor], parameters: Iterable[Tensor]) -> None:
        super().__init__()
        parameters = list(parameters)
        self.weights = {p.untyped_storage().nbytes() for p in parameters}
        self.known = {reference(x) for x in (*inputs, *parameters)}
        self.made: dict[Any, int] = {}
        self.peak = 0
        self.multiplications = 0

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operator, then inspect what it created."""
        result = func(*args, **(kwargs or {}))
        for tensor in self.tensors_in(result):
            if tensor.is_floating_point():
                self.note(tensor)
        if func.overloadpacket in FIRST_FACTOR:
            self.multiplications += result.numel() * args[FIRST_FACTOR[func.overloadpacket]].shape[-1]
        return result

    def note(self, tensor: Tensor) -> None:
        """Record the tensor's memory, unless it existed before or has a parameter's size."""
        memory, size = reference(tensor), tensor.untyped_storage().nbytes()
        if memory not in self.known and size not in self.weights:
            self.made[memory] = size
            self.peak = max(self.peak, self.alive())

    def alive(self) -> int:
        """Return the number of bytes that are currently allocated."""
        self.made = {memory: size for memory, size in self.made.items() if not memory.expired()}
        return sum(self.made.values())


def reference(tensor: Tensor) -> Any:
    """Return a weak reference to the tensor's storage. The references of two views of a storage are equal."""
    return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]


def peak_bytes(work: Callable[[], object], inputs: Iterable[Tensor], parameters: Iterable[Tensor]) -> int:
    """Return the peak number of allocated bytes during `work`."""
    with Operators(inputs, parameters) as operators:
        work()
    peak: int = operators.peak
    return peak
