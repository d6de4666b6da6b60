"""Replaces the student's `flop_accounting` in the katas that build on it if its tests fail."""


def matmul_flops(B: int, D: int, K: int) -> int:
    """Return the FLOPs of a matrix product."""
    return 2 * B * D * K


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Return the FLOPs of three products per layer, excluding the one for the gradient of the data."""
    return (3 * L - (L > 0 and not input_needs_grad)) * matmul_flops(B, D, D)
