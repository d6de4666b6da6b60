"""Linear: a matrix multiplication with a learned weight."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Module):
    """`x @ weight`, without bias.

    `weight` is an `nn.Parameter` of shape (input_dim, output_dim), drawn from a normal distribution with mean 0 and
    standard deviation `1 / sqrt(input_dim)`. Each output is a sum of `input_dim` products, and this scale gives the
    outputs about the same standard deviation as the inputs. With plain `randn`, the output would be `sqrt(input_dim)`
    times as large.

    To register a parameter, assign `self.weight = nn.Parameter(tensor)` after `super().__init__()`. `torch.zeros`,
    `torch.ones`, `torch.randn` and `torch.tensor([[1.0, 2.0]])` use torch's default dtype unless you pass `dtype`;
    `torch.empty` leaves the values uninitialized. Use `input_dim**0.5` for numbers: `torch.sqrt` accepts only tensors.

    Example:
        layer = Linear(16384, 32)
        layer.weight.std()                              # about 1 / 128
        layer(torch.randn(4, 16384)).std()              # about 1
        list(layer.state_dict())                        # ["weight"]
        Linear(32, 2)(torch.ones(4, 8, 16, 32)).shape   # (4, 8, 16, 2)

    Details:
    - Draw each weight independently from torch's global generator, so that the same seed gives the same weights and two
      layers created one after the other differ.
    - `weight` is the only parameter and the only entry of the state_dict. It initially has torch's default dtype; the
      layer may later be converted to another floating-point dtype.
    - `Float[Tensor, "... input_dim"]` (jaxtyping) names the axes. The annotation is not checked at run time; the kata
      named_dimensions shows how to enable the check.

    Not specified (any choice is fine): whether the normal distribution is truncated at three or more standard
    deviations.
    """

    def __init__(self, input_dim: int, output_dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "... input_dim"]) -> Float[Tensor, "... output_dim"]:
        """Return `x @ weight`. `x` can have any number of leading dimensions, including none."""
        raise NotImplementedError
