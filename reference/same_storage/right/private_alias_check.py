"""Asks torch's private check for aliases."""

import torch
from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    return torch._C._is_alias_of(x, y)
