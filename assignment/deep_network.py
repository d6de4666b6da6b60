"""Deep network: square weights, each followed by a ReLU."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Block(nn.Module):
    """`relu(x @ weight)`: a square weight without bias, followed by a ReLU, which sets negative numbers to 0.

    `weight` is an `nn.Parameter` of shape (dim, dim), drawn with torch's global generator from a normal distribution
    with mean 0 and standard deviation `1 / sqrt(dim)`. You can use your `xavier_truncated_normal`.

    Example:
        block = Block(2)
        block.load_state_dict({"weight": torch.tensor([[1.0, -1.0], [2.0, 0.5]])})
        block(torch.tensor([1.0, 1.0]))      # [3, 0]: x @ weight is [3, -0.5]

    Details:
    - The block may later be converted to another floating-point dtype.

    Not specified (any choice is fine): whether the normal distribution is truncated at three or more standard
    deviations.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Return `relu(x @ weight)`. `x` can have any number of leading dimensions, including none."""
        raise NotImplementedError


class DeepNetwork(nn.Module):
    """A sequence of `num_layers` blocks. The last block also ends with a ReLU, and no other layer follows it.

    Without the ReLUs, the product of all weights would be a single matrix, so the network would be equivalent to a
    single linear layer.

    Example:
        model = DeepNetwork(dim=64, num_layers=3)
        list(model.state_dict())                       # ["layers.0.weight", "layers.1.weight", "layers.2.weight"]
        sum(p.numel() for p in model.parameters())     # 12288 = 3 * 64 * 64
        model(torch.randn(8, 64)).min() >= 0           # True

    Details:
    - `layers` is an `nn.ModuleList` of Blocks, and the model has no other parameters.
    - Each Block draws its own weight. Do not set the seed.
    """

    def __init__(self, dim: int, num_layers: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Apply all layers in order. With zero layers, return `x` unchanged."""
        raise NotImplementedError
