"""Lays a tensor of bytes over each whole storage, and compares the first elements of those."""

import torch
from torch import Tensor


def whole(x: Tensor) -> Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(x.detach().untyped_storage())


def same_storage(x: Tensor, y: Tensor) -> bool:
    return whole(x).is_set_to(whole(y))
