"""Defines a custom backward pass, and draws weights using the Box-Muller transform."""

import math

import torch
from torch import Tensor, nn


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return torch.tensordot(x, weight, dims=1)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        rows, grads = x.reshape(-1, weight.shape[0]), grad.reshape(-1, weight.shape[1])
        return grad @ weight.T, rows.T @ grads


class Linear(nn.Module):
    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        u, v = torch.rand(2, input_dim, output_dim, dtype=torch.float64)
        normal = torch.sqrt(-2 * torch.log1p(-u)) * torch.cos(2 * math.pi * v)
        self.weight = nn.Parameter((normal / math.sqrt(input_dim)).to(torch.get_default_dtype()))

    def forward(self, x: Tensor) -> Tensor:
        return Multiply.apply(x, self.weight)
