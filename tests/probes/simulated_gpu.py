"""A simulated CUDA device, which records how tensors are copied to it. It neither needs nor uses a GPU."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import MagicMock, patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

PROPERTIES: dict[object, Callable[["SimulatedGpu", Tensor], object]] = {
    Tensor.device.__get__: lambda gpu, x: torch.device("cuda", 0) if gpu.holds(x) else x.device,
    Tensor.is_cuda.__get__: lambda gpu, x: gpu.holds(x),  # type: ignore[attr-defined]
    Tensor.is_cpu.__get__: lambda gpu, x: x.is_cpu and not gpu.holds(x),  # type: ignore[attr-defined]
    Tensor.get_device: lambda gpu, x: 0 if gpu.holds(x) else x.get_device(),
    Tensor.is_pinned: lambda gpu, x: gpu.is_pinned(x),
    Tensor.pin_memory: lambda gpu, x: x if gpu.is_pinned(x) else keep(gpu.pinned, x.clone()),
}
CUDA: dict[str, Any] = {
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    **{name: MagicMock() for name in ("Stream", "Event", "stream", "current_stream", "synchronize", "set_device")},
}


class SimulatedGpu(TorchFunctionMode):
    """A mode in which torch accepts "cuda", which records the storages of tensors there and in pinned memory."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: list[dict[str, bool]] = []  # from the CPU to the device
        self.memory: dict[int, Any] = {}  # storages by address, kept alive so that no address is used twice
        self.pinned: dict[int, Any] = {}

    def holds(self, x: object) -> bool:
        """Return whether `x` is a tensor on the device."""
        return isinstance(x, Tensor) and x.untyped_storage().data_ptr() in self.memory

    def is_pinned(self, x: object) -> bool:
        """Return whether `x` is a tensor in pinned memory."""
        return isinstance(x, Tensor) and x.untyped_storage().data_ptr() in self.pinned

    def __torch_function__(
        self, func: Any, types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call one of torch's functions or methods on the CPU, and record which tensors would be on the device."""
        if func in PROPERTIES:
            return PROPERTIES[func](self, args[0])
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        values = [*args, *(kwargs or {}).values()]
        on_cuda = func == Tensor.cuda or any(map(is_cuda, values))
        args = [torch.device("cpu") if is_cuda(value) else value for value in args]
        options = {name: torch.device("cpu") if is_cuda(value) else value for name, value in (kwargs or {}).items()}
        pin = options.pop("pin_memory", False)
        result = args[0] if func == Tensor.cuda else func(*args, **options)
        if func in (Tensor.to, Tensor.cuda) and (on_cuda or any(map(self.holds, values[1:]))):
            on_cuda, result = True, result.clone()
            self.record_copy(values[0], result, args, options)
        elif func in (torch.tensor, torch.as_tensor, torch.asarray) and on_cuda:
            result = result.clone()
            self.record_copy(values[0], result, (), {})
        elif func in (Tensor.copy_, Tensor.__setitem__) and self.holds(args[0]):
            source = values[1 if func == Tensor.copy_ else 2]
            self.record_copy(source, torch.as_tensor(source), args, options)
        flat = [x for value in values for x in (value if isinstance(value, list | tuple) else [value])]
        if on_cuda or (any(map(self.holds, flat)) and result is not values[0]):
            keep(self.memory, result)
        return keep(self.pinned, result) if pin else result

    def record_copy(
        self, source: object, copied: Tensor, args: Sequence[object], options: Mapping[str, object]
    ) -> None:
        """Record a copy to the device. Numbers and tensors that are already on the device are ignored."""
        if copied.ndim > 0 and not self.holds(source):
            non_blocking = options.get("non_blocking", any(value is True for value in args[1:]))
            self.copies.append({"pinned": self.is_pinned(source), "non_blocking": bool(non_blocking)})


def is_cuda(place: object) -> bool:
    """Return whether `place` names a CUDA device."""
    return isinstance(place, str | torch.device) and str(place).partition(":")[0] == "cuda"


def keep(storages: dict[int, Any], x: Any) -> Any:
    """Record the storages of one or several tensors, and return `x`."""
    for each in x if isinstance(x, list | tuple) else [x]:
        if isinstance(each, Tensor) and each.numel():
            storages[each.untyped_storage().data_ptr()] = each.untyped_storage()
    return x


@contextmanager
def simulate_gpu() -> Iterator[SimulatedGpu]:
    """Make torch's functions and `torch.cuda` behave as if there were a GPU."""
    with patch.multiple(torch.cuda, None, **CUDA), SimulatedGpu() as gpu:
        yield gpu
