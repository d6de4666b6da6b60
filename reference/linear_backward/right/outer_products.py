"""Accumulates outer products in float64."""

import torch
from torch import Tensor


def linear_backward(x: Tensor, w: Tensor, grad_y: Tensor) -> tuple[Tensor, Tensor]:
    grad_w = torch.zeros(w.shape, dtype=torch.float64)
    for row, grad in zip(x.reshape(-1, len(w)), grad_y.reshape(-1, w.shape[1]), strict=True):
        grad_w += torch.outer(row.double(), grad.double())
    grad_x = (grad_y.unsqueeze(-2) * w).sum(-1)
    return grad_x, grad_w.to(w.dtype)
