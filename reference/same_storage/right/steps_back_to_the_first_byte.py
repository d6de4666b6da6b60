"""Computes the start of the storage from the address, the offset and the element size."""

from torch import Tensor


def begin(x: Tensor) -> int:
    return x.data_ptr() - x.storage_offset() * x.element_size()


def same_storage(x: Tensor, y: Tensor) -> bool:
    return begin(x) == begin(y)
