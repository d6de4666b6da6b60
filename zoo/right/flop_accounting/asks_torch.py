"""Runs the model on meta tensors and counts what torch multiplies; exact fractions for the days."""

from datetime import timedelta
from fractions import Fraction
from math import prod

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Products(TorchDispatchMode):
    """Adds up 2 · m · k · n."""

    def __init__(self) -> None:
        super().__init__()
        self.flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Look at the products only."""
        if func is torch.ops.aten.mm.default:
            self.flops += 2 * prod(args[0].shape) * args[1].shape[1]
        return func(*args, **(kwargs or {}))


def matmul_flops(B: int, D: int, K: int) -> int:
    """Of a product that has no elements."""
    with Products() as counter:
        torch.empty(B, D, device="meta") @ torch.empty(D, K, device="meta")
    return counter.flops


def forward_flops(tokens: float, parameters: float) -> float:
    """One product."""
    return tokens * parameters * 2


def backward_flops(tokens: float, parameters: float) -> float:
    """Two of them."""
    return tokens * parameters * 4


def training_flops(tokens: float, parameters: float) -> float:
    """Three of them."""
    return tokens * parameters * 6


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Of a whole pass, loss included."""
    x = torch.empty(B, D, device="meta", requires_grad=input_needs_grad)
    weights = [torch.empty(D, D, device="meta", requires_grad=True) for _ in range(L)]
    with Products() as counter:
        for weight in weights:
            x = x @ weight
        if weights:
            x.square().mean().backward()
    return counter.flops


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """Exact until the last division."""
    flops = 6 * Fraction(parameters) * Fraction(tokens)
    seconds = flops / (devices * Fraction(peak_flop_per_sec) * Fraction(mfu))
    return float(seconds / int(timedelta(days=1).total_seconds()))
