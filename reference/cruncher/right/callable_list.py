"""Uses a callable subclass of ModuleList for the layers, and registers `final` first."""

from torch import Tensor, nn

from .linear import Linear


class Chain(nn.ModuleList):
    """Layers that are applied in order."""

    def forward(self, x: Tensor) -> Tensor:
        for layer in self:
            x = layer(x)
        return x


class Cruncher(nn.Module):
    """A deep linear model."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.final = Linear(dim, 1)
        self.layers = Chain([Linear(dim, dim) for _ in range(num_layers)])

    def forward(self, x: Tensor) -> Tensor:
        return self.final(self.layers(x)).mean(dim=1)
