"""Computes in float64 and rounds the result, and truncates the normal distribution at four standard deviations."""

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    weight: nn.Parameter

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        normal = torch.randn(input_dim, output_dim)
        while (far := normal.abs() > 4).any():
            normal[far] = torch.randn(int(far.sum()))
        self.weight = nn.Parameter(normal.mul_(input_dim**-0.5))

    def forward(self, x: Tensor) -> Tensor:
        input_dim, output_dim = self.weight.shape
        rows = x.reshape(x.numel() // input_dim, input_dim).double()
        return (rows @ self.weight.double()).to(x.dtype).reshape(*x.shape[:-1], output_dim)
