"""Multiplies all weights into a single vector, starting from the right, and then multiplies x by this vector."""

from torch import Tensor, nn

from .linear import Linear


class Cruncher(nn.Module):
    """A deep linear model."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([])
        while len(self.layers) < num_layers:
            self.layers.append(Linear(dim, dim))
        self.final = Linear(dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        vector = self.final.weight
        for layer in reversed(self.layers):
            vector = layer.weight @ vector
        return x @ vector.flatten()
