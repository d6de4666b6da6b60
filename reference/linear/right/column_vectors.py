"""Uses a non-contiguous weight."""

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.normal(0.0, input_dim**-0.5, (output_dim, input_dim)).T)

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(self.weight.mT, x[..., None])[..., 0]
