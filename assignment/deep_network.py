"""Models: a network that is deep and not linear."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Block(nn.Module):
    """`relu(x @ weight)`: a square weight, without bias, then every negative number becomes 0.

    `weight` is an `nn.Parameter` of shape (dim, dim). Its initialization is normal with mean 0 and standard deviation
    `1 / sqrt(dim)`, drawn from torch's global generator; your `xavier_truncated_normal` makes such a one.

    Example:
        block = Block(2)
        block.load_state_dict({"weight": torch.tensor([[1.0, -1.0], [2.0, 0.5]])})
        block(torch.tensor([1.0, 1.0]))      # [3, 0]: the product is [3, -0.5]

    Left to you: cutting the normal off at three standard deviations or wider.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Multiply the last axis by `weight`, then ReLU; any number of leading axes, of any size, none included."""
        raise NotImplementedError


class DeepNetwork(nn.Module):
    """`num_layers` blocks, one after the other, and nothing after the last one's ReLU.

    Without the ReLU between them, the product of all weights would be a single matrix: a deep linear network can
    compute nothing that one layer can't. `layers` is an `nn.ModuleList` of blocks, each with a weight of its own.

    Example:
        model = DeepNetwork(dim=64, num_layers=3)
        list(model.state_dict())                       # ["layers.0.weight", "layers.1.weight", "layers.2.weight"]
        sum(p.numel() for p in model.parameters())     # 12288 = 3 * 64 * 64
        model(torch.randn(8, 64)).min() >= 0           # True
    """

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Pass `x` through all layers in order; through none, it stays as it is."""
        raise NotImplementedError
