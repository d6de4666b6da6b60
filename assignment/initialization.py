"""Initialization: a truncated normal, scaled by the number of inputs."""

import torch
from jaxtyping import Float
from torch import nn


def xavier_truncated_normal(input_dim: int, output_dim: int) -> Float[nn.Parameter, "input_dim output_dim"]:
    """Return a weight drawn from a truncated normal with standard deviation `1 / sqrt(input_dim)`.

    Each output of `x @ weight` is a sum of `input_dim` products. If the weights had standard deviation 1, each layer
    would make its output `sqrt(input_dim)` times as large as its input; dividing by that root keeps the size. One
    normal number in 370 is more than three standard deviations from 0. Redraw these, so that every weight satisfies

        |weight| <= 3 / sqrt(input_dim)

    Example:
        w = xavier_truncated_normal(16384, 32)
        w.std()                               # about 0.0077
        w.abs().max() <= 3 / 128              # True
        (torch.randn(4, 16384) @ w).std()     # about 1

    Details:
    - Return an `nn.Parameter` of shape (input_dim, output_dim), in torch's default dtype, that requires grad.
    - `1 / sqrt(input_dim)` is the standard deviation before truncation, which lowers it by 1.3 %; do not
      compensate.
    - Draw every weight independently from torch's global generator, and do not seed it: the same seed gives the same
      weights, and two weights drawn in a row differ.
    - `nn.init.trunc_normal_(tensor, mean, std, a, b)` helps: `a` and `b` are absolute bounds, not numbers of standard
      deviations.
    """
    raise NotImplementedError
