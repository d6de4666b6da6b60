"""Oracle for memory_accounting that adds up bytes one element at a time."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """The layout of a tensor in its storage. Strides and offset are in elements of `element_size` bytes."""

    shape: Sequence[int]
    strides: Sequence[int]
    offset: int
    element_size: int
    base_bytes: int  # size of the tensor that torch records as the base of this view, or of the tensor itself

    @property
    def elements(self) -> int:
        """The number of elements, counting expanded elements several times."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Use:
    """One use of a parameter in a model. A shared `parameter` has several uses."""

    parameter: int
    modules: Sequence[int]  # from the model down to the module that contains the parameter
    shape: tuple[int, ...]
    trainable: bool
    address: int = 1  # 0 on the meta device
    storage: int = 0  # the same number for parameters that are slices of one buffer
    is_in_leaf: bool = True  # whether the module that contains the parameter has no submodules
    kind: str = ""  # "nn.Linear" or "nn.Embedding", if the module that contains the parameter is one

    @property
    def elements(self) -> int:
        """The number of elements of the parameter."""
        return math.prod(self.shape)


def tensor_bytes(window: Window, storage_bytes: int) -> int:  # noqa: ARG001
    """Return the size of the whole storage in bytes."""
    return storage_bytes


def num_parameters(uses: Sequence[Use], buffers: Sequence[int]) -> int:  # noqa: ARG001
    """Count each parameter once, whether or not it is trainable, and exclude buffers."""
    return sum({use.parameter: use.elements for use in uses}.values())


def training_bytes(
    num_parameters: int,
    num_activations: int,
    *,
    parameter_bytes: int = 4,
    gradient_bytes: int = 4,
    optimizer_bytes: int = 8,
    activation_bytes: int = 4,
    times: int = 1,
) -> int:
    """Add up the bytes of each parameter, gradient, optimizer state and activation, and multiply by `times`."""
    total = 0
    for _ in range(num_parameters):
        total += parameter_bytes + gradient_bytes + optimizer_bytes
    for _ in range(num_activations):
        total += activation_bytes
    return times * total


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """Search for the largest number of parameters that fit into the memory of all devices."""
    available = sum(int(device_bytes) for _ in range(num_devices))
    return bisect_right(range(available + 1), available, key=lambda count: count * bytes_per_parameter) - 1
