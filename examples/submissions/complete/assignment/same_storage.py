"""Kata 1: do two tensors look at the same memory?"""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Compare where the storages begin."""
    first, second = (tensor.untyped_storage() for tensor in (x, y))
    return first.data_ptr() == second.data_ptr()
