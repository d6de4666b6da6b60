"""Replaces the student's `flop_accounting` in katas that build on it, if the student's version fails its tests."""


def matmul_flops(B: int, D: int, K: int) -> int:
    """Return the FLOPs of a matrix product."""
    return 2 * B * D * K


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Return the FLOPs of three matmuls per layer, excluding the matmul for the gradient of the first layer's input."""
    return (3 * L - (L > 0 and not input_needs_grad)) * matmul_flops(B, D, D)
