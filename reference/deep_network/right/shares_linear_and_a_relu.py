"""Uses a subclass of nn.ModuleList, and a block that inherits from a linear layer and contains a ReLU module."""

from functools import reduce

import torch
from torch import Tensor, nn


class Linear(nn.Module):
    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(input_dim, output_dim).normal_(std=input_dim**-0.5))

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight)


class Block(Linear):
    def __init__(self, dim: int) -> None:
        super().__init__(dim, dim)
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(super().forward(x))


class Chain(nn.ModuleList):
    def forward(self, x: Tensor) -> Tensor:
        return reduce(lambda y, layer: layer(y), self, x)


class DeepNetwork(nn.Module):
    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = Chain([Block(dim) for _ in range(num_layers)])
        self.num_layers = num_layers

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)
