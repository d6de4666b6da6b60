"""Checks whether the first element of y lies inside x's storage."""

from torch import Tensor


def same_storage(x: Tensor, y: Tensor) -> bool:
    storage = x.untyped_storage()
    return 0 <= y.data_ptr() - storage.data_ptr() < storage.nbytes()
