"""Computes the answers with torch on meta tensors, which do not allocate memory."""

from collections.abc import Sequence

import torch


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    return torch.empty(shape, device="meta").stride()


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    x = torch.empty(0, device="meta").as_strided([i + 1 for i in index], strides, offset)
    return int(x[tuple(index)].storage_offset())


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    return torch.empty_strided(shape, strides, device="meta").is_contiguous()
