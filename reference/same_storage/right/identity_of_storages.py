"""Compares the storage objects with `is`, because torch keeps one Python object per storage."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    mine, other = x.untyped_storage(), y.untyped_storage()
    return mine is other
