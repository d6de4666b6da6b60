"""Replaces the student's `memory_accounting` in katas that build on it, if the student's version fails its tests."""


def training_bytes(
    num_parameters: int,
    num_activations: int,
    *,
    parameter_bytes: int = 4,
    gradient_bytes: int = 4,
    optimizer_bytes: int = 8,
    activation_bytes: int = 4,
) -> int:
    """Add up parameters, gradients, optimizer state and activations."""
    return num_parameters * (parameter_bytes + gradient_bytes + optimizer_bytes) + num_activations * activation_bytes
