"""Distinguishes parameters by address, and accepts extra optional arguments."""

from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    storage = x.storage()
    return len(storage) * storage.element_size()


def num_parameters(model: nn.Module) -> int:
    places = {p.data_ptr(): p.numel() for p in model.parameters()}
    return sum(places.values())


def training_bytes(
    num_parameters: int,
    num_activations: int,
    parameter_bytes: int = 4,
    gradient_bytes: int = 4,
    optimizer_bytes: int = 8,
    activation_bytes: int = 4,
    other_bytes: int = 0,
) -> int:
    total = other_bytes
    for each in (parameter_bytes, gradient_bytes, optimizer_bytes):
        total += num_parameters * each
    return total + activation_bytes * num_activations


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return num_devices * int(device_bytes) // bytes_per_parameter
