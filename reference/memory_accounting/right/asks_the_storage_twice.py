"""Views the storage as bytes, collects parameters in a set, and adds up sizes from a table."""

from math import floor

import torch
from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    return torch.empty(0, dtype=torch.uint8).set_(x.untyped_storage()).numel()


def num_parameters(model: nn.Module) -> int:
    distinct = {p for module in model.modules() for p in module.parameters(recurse=False)}
    return sum(p.nelement() for p in distinct)


def training_bytes(num_parameters: int, num_activations: int, **each: int) -> int:
    sizes = {"parameter_bytes": 4, "gradient_bytes": 4, "optimizer_bytes": 8, "activation_bytes": 4} | each
    counts = dict.fromkeys(sizes, num_parameters) | {"activation_bytes": num_activations}
    return sum(counts[name] * size for name, size in sizes.items())


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return floor(device_bytes * num_devices / bytes_per_parameter)
