"""Views each storage as bytes from its beginning, and compares these views."""

import torch
from torch import Tensor


def whole(x: Tensor) -> Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(x.detach().untyped_storage())


def same_storage(x: Tensor, y: Tensor) -> bool:
    return whole(x).is_set_to(whole(y))
