"""Probes for flop_accounting."""

from typing import Any

from torchkata import typed


@typed("deep_linear_flops(B, D, L, input_needs_grad=input_needs_grad)")
def deep_linear(assignment: Any, B: int, D: int, L: int, input_needs_grad: bool) -> object:
    """Call `deep_linear_flops`."""
    return assignment.flop_accounting.deep_linear_flops(B, D, L, input_needs_grad=input_needs_grad)
