"""Replaces the student's `cruncher` in katas that build on it, if the student's version fails its tests."""

from torch import Tensor, nn

from .linear import Linear


class Cruncher(nn.Module):
    """A deep linear model built with `nn.Sequential`."""

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Linear(dim, dim) for _ in range(num_layers))
        self.final = Linear(dim, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return one number per row."""
        y: Tensor = nn.Sequential(*self.layers, self.final, nn.Flatten(0))(x)
        return y
