"""Reference solution for initialization."""

import torch
from jaxtyping import Float
from torch import nn


def xavier_truncated_normal(input_dim: int, output_dim: int) -> Float[nn.Parameter, "input_dim output_dim"]:
    """Truncate the normal distribution at three standard deviations."""
    std = input_dim**-0.5
    weight = torch.empty(input_dim, output_dim)
    return nn.Parameter(nn.init.trunc_normal_(weight, std=std, a=-3 * std, b=3 * std))
