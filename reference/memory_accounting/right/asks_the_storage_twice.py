"""Lays bytes over the storage and counts them, walks through modules with a set, and adds up a table."""

from math import floor

import torch
from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    """A flat tensor of bytes on the same storage."""
    return torch.empty(0, dtype=torch.uint8).set_(x.untyped_storage()).numel()


def num_parameters(model: nn.Module) -> int:
    """Parameters are hashed by identity."""
    distinct = {p for module in model.modules() for p in module.parameters(recurse=False)}
    return sum(p.nelement() for p in distinct)


def training_bytes(num_parameters: int, num_activations: int, **each: int) -> int:
    """Take the table of float32 with Adam, and change what is given."""
    sizes = {"parameter_bytes": 4, "gradient_bytes": 4, "optimizer_bytes": 8, "activation_bytes": 4} | each
    counts = dict.fromkeys(sizes, num_parameters) | {"activation_bytes": num_activations}
    return sum(counts[name] * size for name, size in sizes.items())


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """Below 2**53 bytes, a float's quotient is rounded down rightly."""
    return floor(device_bytes * num_devices / bytes_per_parameter)
