"""Counts distinct storage addresses using a set, and accepts any number of tensors."""

from torch import Tensor


def same_storage(*tensors: Tensor) -> bool:
    return len({tensor.untyped_storage()._cdata for tensor in tensors}) == 1
