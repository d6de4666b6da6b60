"""Modifies a copy of x in place and applies dropout with probability 0."""

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    """Multiplies a copy of x by the weight, after applying dropout with probability 0."""

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(input_dim, output_dim))
        with torch.no_grad():
            self.weight.normal_().div_(input_dim**0.5)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x.clone().mul_(1.0), 0.0) @ self.weight
