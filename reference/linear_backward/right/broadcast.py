"""Sums batched products over the leading dimensions, and returns an instance of a tuple subclass."""

import torch
from torch import Tensor
from torch.nn import functional


def linear_backward(x: Tensor, w: Tensor, grad_y: Tensor) -> tuple[Tensor, Tensor]:
    grad_x = functional.linear(grad_y, w)
    each = torch.matmul(x[..., :, None], grad_y[..., None, :])
    while each.ndim > 2:
        each = each.sum(0)
    return torch.return_types.max((grad_x, each))
