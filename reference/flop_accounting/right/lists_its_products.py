"""Lists the shapes of all matmuls in a step, and computes the days with exact fractions."""

from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from math import prod


def matmul_flops(B: int, D: int, K: int) -> int:
    return 2 * prod([B, D, K])


def training_flops(tokens: float, parameters: float) -> float:
    return tokens * parameters * 6


def products(B: int, D: int, L: int, input_needs_grad: bool) -> Iterator[tuple[int, int, int]]:
    for _ in range(L):
        yield B, D, D
    for layer in reversed(range(L)):
        yield D, B, D
        if layer != 0 or input_needs_grad:
            yield B, D, D


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    return sum(matmul_flops(*shape) for shape in products(B, D, L, input_needs_grad))


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    flops = 6 * Fraction(parameters) * Fraction(tokens)
    seconds = flops / (devices * Fraction(peak_flop_per_sec) * Fraction(mfu))
    return float(seconds / int(timedelta(days=1).total_seconds()))
