"""A deep linear model."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .linear import Linear  # your own layer


class Cruncher(nn.Module):
    """`num_layers` square linear layers, then one that maps to a single number; nothing nonlinear between.

    `layers` is an `nn.ModuleList` of `num_layers` times `Linear(dim, dim)`, each with a weight of its own, and
    `final` is `Linear(dim, 1)`. A plain Python list would hide the layers from `parameters()` and `state_dict()`.

    Example:
        model = Cruncher(dim=64, num_layers=2)
        list(model.state_dict())                       # ["layers.0.weight", "layers.1.weight", "final.weight"]
        sum(p.numel() for p in model.parameters())     # 8256 = 64 * 64 * 2 + 64
        model(torch.randn(8, 64)).shape                # (8,)
    """

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch"]:
        """One number for each row, for every batch size (0 and 1, too) and for `num_layers=0`."""
        raise NotImplementedError
