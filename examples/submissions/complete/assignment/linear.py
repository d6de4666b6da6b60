"""Kata 3: a linear layer from a bare parameter."""

import math

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    """A linear layer without bias: `x @ weight`."""

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        weight = torch.empty(input_dim, output_dim)
        self.weight = nn.Parameter(nn.init.normal_(weight, std=1 / math.sqrt(input_dim)))

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by the weight."""
        return torch.matmul(x, self.weight)
