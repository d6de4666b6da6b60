"""Draws random numbers when the module is imported."""

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(input_dim, output_dim) / input_dim**0.5)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight


EXAMPLE = Linear(3, 2)
