"""Redraws rejected elements and scales the result at the end."""

import torch
from torch import nn


def xavier_truncated_normal(input_dim: int, output_dim: int) -> nn.Parameter:
    normal = torch.randn(input_dim, output_dim)
    while (far := normal.abs() > 3).any():
        normal[far] = torch.randn(int(far.sum()))
    return nn.Parameter(normal / input_dim**0.5)
