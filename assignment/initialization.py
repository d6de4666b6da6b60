"""Initialization: a truncated normal, scaled by the number of inputs."""

import torch
from jaxtyping import Float
from torch import nn


def xavier_truncated_normal(input_dim: int, output_dim: int) -> Float[nn.Parameter, "input_dim output_dim"]:
    """Return a weight drawn from a truncated normal with standard deviation `1 / sqrt(input_dim)`.

    Each output of `x @ weight` is a sum of `input_dim` products. If the weights had standard deviation 1, each layer
    would make its output `sqrt(input_dim)` times as large as its input; dividing by `sqrt(input_dim)` preserves the
    scale. (The lecture calls this Xavier initialization; the page of `linear` says how the original differs.) One in
    370 normally distributed numbers is more than three standard deviations from 0. Redraw such numbers, so that every
    weight satisfies

        |weight| <= 3 / sqrt(input_dim)

    Example:
        w = xavier_truncated_normal(16384, 32)
        w.std()                               # about 0.0077
        w.abs().max() <= 3 / 128              # True
        (torch.randn(4, 16384) @ w).std()     # about 1

    Details:
    - Return an `nn.Parameter` of shape (input_dim, output_dim), in torch's default dtype, that requires grad.
    - `1 / sqrt(input_dim)` is the standard deviation before truncation, which reduces it by 1.3%. Do not compensate
      for this.
    - Draw every weight independently from torch's global generator, and do not seed it. With the same seed, the
      function returns the same parameter; two consecutive calls return different parameters.
    - You can use `nn.init.trunc_normal_(tensor, mean, std, a, b)`. Its `a` and `b` are absolute bounds, not multiples
      of the standard deviation.
    """
    raise NotImplementedError
