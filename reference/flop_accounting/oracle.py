"""Oracle for flop_accounting that counts FLOPs one by one.

To save time, the FLOPs of a small batch or a few tokens are counted and then multiplied by `times`.
"""

import math
from datetime import timedelta
from itertools import product


def count(each: int, *numbers: int) -> int:
    """Count `each` FLOPs for every combination of indices below the given limits."""
    return sum(each for _ in product(*map(range, numbers)))


def matmul_flops(B: int, D: int, K: int, times: int = 1) -> int:
    """Count a multiplication and an addition for each of B · K · D products."""
    return times * count(2, B, K, D)


def forward_flops(tokens: int, parameters: int, times: float = 1) -> float:
    """Count two FLOPs for each pair of a token and a parameter."""
    return times * count(2, tokens, parameters)


def backward_flops(tokens: int, parameters: int, times: float = 1) -> float:
    """Count the FLOPs of the gradients with respect to the weight and the input."""
    return times * (count(2, tokens, parameters) + count(2, tokens, parameters))


def training_flops(tokens: int, parameters: int, times: float = 1) -> float:
    """Add the FLOPs of the forward and backward pass."""
    return forward_flops(tokens, parameters, times) + backward_flops(tokens, parameters, times)


def deep_linear_products(L: int, input_needs_grad: bool) -> int:
    """Count the matmuls for each layer's output and gradients. The first layer's input may need no gradient."""
    return sum(3 if layer or input_needs_grad else 2 for layer in range(L))


def products_by_default(L: int) -> int:
    """Count the matmuls if `input_needs_grad` is not passed."""
    return sum(3 if layer else 2 for layer in range(L))


def deep_linear_flops(B: int, D: int, products: int, times: int = 1) -> int:
    """Return the FLOPs of the given number of products of a (B, D) and a (D, D) matrix."""
    return products * matmul_flops(B, D, D, times)


def training_days(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    """Divide the total FLOPs by the FLOPs that all devices perform in a day."""
    flop_per_sec = math.fsum(peak_flop_per_sec * mfu for _ in range(devices))
    return training_flops(tokens, parameters, times) / flop_per_sec / timedelta(days=1).total_seconds()
