"""Kata 1: check whether two tensors share a storage."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    """Compare the addresses of the storages."""
    first, second = (tensor.untyped_storage() for tensor in (x, y))
    return first.data_ptr() == second.data_ptr()
