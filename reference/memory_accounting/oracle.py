"""What takes memory, and how often it is counted."""

import math
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
) -> int:
    """Parameters, as many gradients, the optimizer's state for each, and the activations."""
    return num_parameters * (parameter_bytes + gradient_bytes + optimizer_bytes) + num_activations * activation_bytes


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """As many as fit whole; `device_bytes` is whole, though it may be a float."""
    return num_devices * int(device_bytes) // bytes_per_parameter
