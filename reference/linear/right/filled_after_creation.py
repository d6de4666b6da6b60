"""Creates an uninitialized weight, fills it afterwards, and stores a second reference to it."""

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.Tensor(input_dim, output_dim)))
        self.reset_parameters()

    @property
    def w(self) -> nn.Parameter:
        return self.weight

    def reset_parameters(self) -> None:
        nn.init.normal_(self.w, std=self.w.shape[0] ** -0.5)

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.w)
