"""What takes memory, and how often it is counted."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """One place in a model where a parameter is used; the same `parameter` may have several."""

    parameter: int
    elements: int
    trainable: bool


def tensor_bytes(elements: int, element_size: int, storage_bytes: int) -> int:  # noqa: ARG001
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


def max_parameters(num_devices: int, device_bytes: int, bytes_per_parameter: int) -> int:
    """As many as fit whole."""
    return num_devices * device_bytes // bytes_per_parameter
