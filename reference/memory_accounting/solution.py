"""Where the bytes of a training run go."""

from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    """The storage knows its size."""
    return x.untyped_storage().nbytes()


def num_parameters(model: nn.Module) -> int:
    """`parameters()` yields each Parameter once."""
    return sum(p.numel() for p in model.parameters())


def training_bytes(
    num_parameters: int,
    num_activations: int,
    *,
    parameter_bytes: int = 4,
    gradient_bytes: int = 4,
    optimizer_bytes: int = 8,
    activation_bytes: int = 4,
) -> int:
    """Three kinds of numbers for each parameter, and the activations."""
    each = parameter_bytes + gradient_bytes + optimizer_bytes
    return num_parameters * each + num_activations * activation_bytes


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """All memory over the bytes of one."""
    return int(num_devices * device_bytes // bytes_per_parameter)
