"""Recurses over the dimensions and returns a torch.Size, which is a tuple."""

from collections.abc import Sequence

import torch


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    if not shape:
        return ()
    rest = contiguous_strides(shape[1:])
    return torch.Size([rest[0] * max(1, shape[1]) if rest else 1, *rest])


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    if len(index) == 0:
        return offset
    return storage_index(strides[1:], index[1:], offset + index[0] * strides[0])


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for size, stride in reversed(list(zip(shape, strides, strict=True))):
        if size == 0:
            return True
        if size != 1:
            if stride != expected:
                return any(n == 0 for n in shape)
            expected *= size
    return True
