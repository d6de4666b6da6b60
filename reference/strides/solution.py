"""Arithmetic on shapes, strides and offsets."""

from collections.abc import Sequence
from itertools import accumulate
from operator import mul


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Multiply the sizes of the later dimensions, starting from the last one."""
    sizes = [max(size, 1) for size in shape]
    return tuple(accumulate(sizes[:0:-1], mul, initial=1))[::-1] if sizes else ()


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    """Sum index times stride over all dimensions."""
    return offset + sum(i * stride for i, stride in zip(index, strides, strict=True))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Compare the strides of all dimensions larger than 1."""
    if 0 in shape:
        return True
    expected = contiguous_strides(shape)
    return all(size == 1 or stride == right for size, stride, right in zip(shape, strides, expected, strict=True))
