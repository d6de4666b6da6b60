"""Counts through names, from shapes, and divides with divmod."""

from math import prod

from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    return len(x.untyped_storage())


def num_parameters(model: nn.Module) -> int:
    return sum(prod(p.shape) for _, p in model.named_parameters())


def training_bytes(
    num_parameters: int,
    num_activations: int,
    *,
    parameter_bytes: int = 4,
    gradient_bytes: int = 4,
    optimizer_bytes: int = 8,
    activation_bytes: int = 4,
) -> int:
    parameters = num_parameters * parameter_bytes
    gradients = num_parameters * gradient_bytes
    optimizer = num_parameters * optimizer_bytes
    activations = num_activations * activation_bytes
    return parameters + gradients + optimizer + activations


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    fitting, _ = divmod(num_devices * device_bytes, bytes_per_parameter)
    return int(fitting)
