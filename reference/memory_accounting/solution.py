"""Memory accounting of a training run."""

from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    """Return the size of the storage in bytes."""
    return x.untyped_storage().nbytes()


def num_parameters(model: nn.Module) -> int:
    """Count the elements of `parameters()`, which yields each parameter only once."""
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
    """Add up the bytes of parameters, gradients, optimizer state and activations."""
    each = parameter_bytes + gradient_bytes + optimizer_bytes
    return num_parameters * each + num_activations * activation_bytes


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """Divide the total memory by the bytes per parameter."""
    return int(num_devices * device_bytes // bytes_per_parameter)
