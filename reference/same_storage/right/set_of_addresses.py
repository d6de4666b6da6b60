"""Puts both addresses in a set and counts."""

from torch import Tensor


def same_storage(*tensors: Tensor) -> bool:
    return len({tensor.untyped_storage()._cdata for tensor in tensors}) == 1
