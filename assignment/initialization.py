"""Models: initialization, or how large the weights start."""

import torch
from jaxtyping import Float
from torch import nn


def xavier_truncated_normal(input_dim: int, output_dim: int) -> Float[nn.Parameter, "input_dim output_dim"]:
    """Return a weight for `x @ weight`: a normal of standard deviation `1 / sqrt(input_dim)`, cut at three of these.

    Each output is a sum of `input_dim` products. With weights of standard deviation 1 it would be `sqrt(input_dim)`
    times as large as an input, again and again from layer to layer; divided by that root, it stays as large. Still one
    weight in 370 is more than three standard deviations from 0. For safety these are drawn again until they are within:

        |weight| <= 3 / sqrt(input_dim)

    The standard deviation is meant before the cut, which makes it smaller by 1.3 %; do not make up for that.

    Example:
        w = xavier_truncated_normal(16384, 32)
        w.std()                               # about 0.0077
        w.abs().max() <= 3 / 128              # True
        (torch.randn(4, 16384) @ w).std()     # about 1

    `nn.init.trunc_normal_(tensor, mean, std, a, b)` helps: `a` and `b` are the ends themselves, not numbers of standard
    deviations. Every weight is drawn from torch's global generator: the same seed repeats it, and two weights differ.
    """
    raise NotImplementedError
