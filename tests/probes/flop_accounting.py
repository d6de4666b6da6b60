"""Probes for flop_accounting."""

from typing import Any

from torchkata import typed


@typed("matmul_flops(B, D, K)")
def matmul(assignment: Any, B: int, D: int, K: int) -> object:
    """Call `matmul_flops`."""
    return assignment.flop_accounting.matmul_flops(B, D, K)


@typed("training_flops(tokens, parameters)")
def training(assignment: Any, tokens: float, parameters: float) -> object:
    """Call `training_flops`."""
    return assignment.flop_accounting.training_flops(tokens, parameters)


@typed("deep_linear_flops(B, D, L, input_needs_grad=input_needs_grad)")
def deep_linear(assignment: Any, B: int, D: int, L: int, input_needs_grad: bool) -> object:
    """Call `deep_linear_flops`."""
    return assignment.flop_accounting.deep_linear_flops(B, D, L, input_needs_grad=input_needs_grad)


@typed("deep_linear_flops(B, D, L)")
def deep_linear_by_default(assignment: Any, B: int, D: int, L: int) -> object:
    """Call `deep_linear_flops` without input_needs_grad."""
    return assignment.flop_accounting.deep_linear_flops(B, D, L)


@typed("training_days(parameters, tokens, devices, peak_flop_per_sec, mfu)")
def days(
    assignment: Any, parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float
) -> object:
    """Call `training_days`."""
    return assignment.flop_accounting.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu)
