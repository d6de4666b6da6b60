"""Computes each gradient with one einsum."""

import torch
from torch import Tensor


def linear_backward(x: Tensor, w: Tensor, grad_y: Tensor) -> tuple[Tensor, Tensor]:
    grad_w = torch.einsum("...i,...o->io", x, grad_y)
    return torch.einsum("...o,io->...i", grad_y, w), grad_w
