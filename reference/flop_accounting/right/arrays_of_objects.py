"""Multiplies NumPy arrays of Python ints, which do not overflow."""

import numpy as np

SECONDS_PER_DAY = 24 * 60 * 60


def matmul_flops(B: int, D: int, K: int) -> int:
    return int(np.prod(np.array([2, B, D, K], dtype=object)))


def training_flops(tokens: float, parameters: float) -> float:
    return 3 * (2 * tokens * parameters)


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    return (3 * L - (L > 0 and not input_needs_grad)) * matmul_flops(B, D, D)


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    per_day = peak_flop_per_sec * mfu * devices * SECONDS_PER_DAY
    return training_flops(tokens, parameters) / per_day
