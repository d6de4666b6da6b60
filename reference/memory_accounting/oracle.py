"""What takes memory, and how often it is counted."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """What a tensor shows of its storage; strides and offset in elements, of `element_size` bytes."""

    shape: Sequence[int]
    strides: Sequence[int]
    offset: int
    element_size: int

    @property
    def elements(self) -> int:
        """As many as are shown, the same one perhaps several times."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Use:
    """One place in a model where a parameter is used; the same `parameter` may have several."""

    parameter: int
    modules: Sequence[int]  # from the model down to the module that has it
    shape: tuple[int, ...]
    trainable: bool

    @property
    def elements(self) -> int:
        """Of the parameter."""
        return math.prod(self.shape)


def tensor_bytes(window: Window, storage_bytes: int) -> int:  # noqa: ARG001
    """The storage counts, not the elements that a tensor shows of it."""
    return storage_bytes


def num_parameters(uses: Sequence[Use], buffers: Sequence[int]) -> int:  # noqa: ARG001
    """Each parameter once, trainable or not; no buffers."""
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
    """One parameter after the other, with its gradient and state, and one activation after the other, `times` over."""
    total = 0
    for _ in range(num_parameters):
        total += parameter_bytes + gradient_bytes + optimizer_bytes
    for _ in range(num_activations):
        total += activation_bytes
    return times * total


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """The largest number whose bytes are no more than there are, found by halving; `device_bytes` is a whole number."""
    there_are = sum(int(device_bytes) for _ in range(num_devices))
    return bisect_right(range(there_are + 1), there_are, key=lambda count: count * bytes_per_parameter) - 1
