"""FLOPs of products of matrices and of a model's passes, counted one by one, and the days that they take.

What is too large for that is so many `times` a batch, or so many tokens, that are counted once.
"""

import math
from datetime import timedelta
from itertools import product


def counted(each: int, *numbers: int) -> int:
    """So many FLOPs whenever one of each kind meets one of each other, of these numbers."""
    return sum(each for _ in product(*map(range, numbers)))


def matmul_flops(B: int, D: int, K: int, times: int = 1) -> int:
    """B · K sums of D products: a multiplication and an addition for each."""
    return times * counted(2, B, K, D)


def forward_flops(tokens: int, parameters: int, times: float = 1) -> float:
    """Each token meets each parameter once."""
    return times * counted(2, tokens, parameters)


def backward_flops(tokens: int, parameters: int, times: float = 1) -> float:
    """Once for the gradient of the weight, once for that of the input."""
    return times * (counted(2, tokens, parameters) + counted(2, tokens, parameters))


def training_flops(tokens: int, parameters: int, times: float = 1) -> float:
    """Forward and backward."""
    return forward_flops(tokens, parameters, times) + backward_flops(tokens, parameters, times)


def deep_linear_products(L: int, input_needs_grad: bool) -> int:
    """For each layer one forward, one for its weight, and one for its input, of which the first may not be needed."""
    return sum(3 if layer or input_needs_grad else 2 for layer in range(L))


def products_by_default(L: int) -> int:
    """As many where nothing is said of the data's gradient: without it."""
    return sum(3 if layer else 2 for layer in range(L))


def deep_linear_flops(B: int, D: int, products: int, times: int = 1) -> int:
    """FLOPs of so many products (B, D) by (D, D)."""
    return products * matmul_flops(B, D, D, times)


def training_days(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    """All FLOPs, over what all devices do in a day."""
    in_a_second = math.fsum(peak_flop_per_sec * mfu for _ in range(devices))
    return training_flops(tokens, parameters, times) / in_a_second / timedelta(days=1).total_seconds()
