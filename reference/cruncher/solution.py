"""A deep linear model."""

from jaxtyping import Float
from torch import Tensor, nn

from .linear import Linear


class Cruncher(nn.Module):
    """A deep linear model: square linear layers, then a final layer with one output."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Linear(dim, dim) for _ in range(num_layers)])
        self.final = Linear(dim, 1)

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch"]:
        """Apply the layers in order and drop the last dimension, which has size 1."""
        for layer in self.layers:
            x = layer(x)
        return self.final(x).squeeze(-1)
