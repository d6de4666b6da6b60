"""Draws more values than needed, and returns an instance of an nn.Parameter subclass."""

import torch
from torch import Tensor, nn


def within(count: int) -> Tensor:
    normal = torch.distributions.Normal(0.0, 1.0).sample((2 * count + 16,))
    return normal[normal.abs() <= 3]


class Weight(nn.Parameter):
    pass


def xavier_truncated_normal(input_dim: int, output_dim: int) -> nn.Parameter:
    count = input_dim * output_dim
    weight = Weight(torch.zeros(input_dim, output_dim))
    with torch.no_grad():
        weight.view(-1).copy_(within(count)[:count])
        weight.div_(input_dim**0.5)
    return weight
