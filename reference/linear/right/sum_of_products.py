"""Writes the product out: every input times its row of weights, then a sum."""

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    """`x @ weight`."""

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        weight = torch.empty(input_dim, output_dim)
        for row in weight:
            row.normal_(std=input_dim**-0.5)
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        return (x.unsqueeze(-1) * self.weight).sum(dim=-2)
