"""A deep linear model."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .linear import Linear  # your own layer


class Cruncher(nn.Module):
    """A deep linear model: `num_layers` square linear layers, then a final layer with one output.

    `layers` is an `nn.ModuleList` of `num_layers` `Linear(dim, dim)` modules; `final` is a `Linear(dim, 1)`. The output
    is `x @ W0 @ W1 @ … @ final`, one number per row, with no nonlinearity in between.

    Example:
        model = Cruncher(dim=64, num_layers=2)
        list(model.state_dict())                       # ["layers.0.weight", "layers.1.weight", "final.weight"]
        sum(p.numel() for p in model.parameters())     # 8256 = 64 * 64 * 2 + 64
        model(torch.randn(8, 64)).shape                # (8,)

    Details:
    - A plain Python list would hide the layers from `parameters()` and `state_dict()`.
    - Each layer has its own weight, initialized by `Linear`. Do not set the torch seed.
    - Every call must use the current weights, so do not cache their product.
    - Gradients must flow to every weight and to `x`.
    - The model may later be converted to another floating-point dtype.

    Not specified (any choice is fine): which of the multiplications you do first.
    """

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch"]:
        """Return one number per row, for any batch size (including 0 and 1) and also for `num_layers=0`."""
        raise NotImplementedError
