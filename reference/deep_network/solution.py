"""Reference solution for deep_network."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Block(nn.Module):
    """`relu(x @ weight)`."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim) / dim**0.5)

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Return `relu(x @ weight)`."""
        return torch.relu(x @ self.weight)


class DeepNetwork(nn.Module):
    """A sequence of `num_layers` blocks."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(dim) for _ in range(num_layers)])

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Apply the layers in order."""
        for layer in self.layers:
            x = layer(x)
        return x
