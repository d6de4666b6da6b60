"""Uses inverse transform sampling in float64, and returns a non-contiguous tensor."""

import math

import torch
from torch import nn


def xavier_truncated_normal(input_dim: int, output_dim: int) -> nn.Parameter:
    end = math.erf(3 / math.sqrt(2))
    uniform = torch.empty(output_dim, input_dim, dtype=torch.float64).uniform_(-end, end)
    weight = torch.erfinv(uniform) * math.sqrt(2 / input_dim)
    return nn.Parameter(weight.T.to(torch.get_default_dtype()))
