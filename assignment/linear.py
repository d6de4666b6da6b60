"""A linear layer from a bare parameter: a matrix multiplication, and its initialization."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Module):
    """`x @ weight`, without bias.

    `weight` is an `nn.Parameter` of shape (input_dim, output_dim). Its initialization is normal with mean 0 and
    standard deviation `1 / sqrt(input_dim)`: then each output, a sum of `input_dim` products, has about the
    size of one input, however wide the layer is. Plain `randn` would make it `sqrt(input_dim)` times as large.

    `self.weight = nn.Parameter(tensor)`, after `super().__init__()`, makes a tensor a parameter of the layer.
    `torch.zeros`, `torch.ones`, `torch.randn` and `torch.tensor([[1.0, 2.0]])` make tensors with numbers in them, in
    float32 unless `dtype` says otherwise; `torch.empty` only makes room for numbers that you put there. `torch.sqrt`
    takes tensors alone: the root of a number is `input_dim**0.5`.

    Example:
        layer = Linear(16384, 32)
        layer.weight.std()                              # about 1 / 128
        layer(torch.randn(4, 16384)).std()              # about 1
        list(layer.state_dict())                        # ["weight"]
        Linear(32, 2)(torch.ones(4, 8, 16, 32)).shape   # (4, 8, 16, 2): all 4 · 8 · 16 rows times the same weight

    Draw each initial weight independently from torch's global generator: the same seed gives the same weights, and two
    layers get different ones.
    `Float[Tensor, "... input_dim"]` names the axes (jaxtyping). By itself it checks nothing when the code runs;
    named_dimensions shows the line that has it checked.
    Left to you: cutting the normal off at three standard deviations or wider.
    """

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "... input_dim"]) -> Float[Tensor, "... output_dim"]:
        """Multiply the last axis of `x` by `weight`; any number of leading axes, of any size, none included."""
        raise NotImplementedError
