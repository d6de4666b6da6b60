"""Kata 4: a deep linear model."""

from torch import Tensor, nn

from .linear import Linear


class Cruncher(nn.Module):
    """Square layers, then one number per row."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(Linear(dim, dim))
        self.final = Linear(dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layers in order."""
        batch, _ = x.shape
        for layer in self.layers:
            x = layer(x)
        return self.final(x).view(batch)
