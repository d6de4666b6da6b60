"""Row-major layout."""

from collections.abc import Sequence


def contiguous_strides(shape: Sequence[int]) -> list[int]:
    """Each stride is the product of the sizes behind it, where 0 counts as 1."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    """`offset + Σ index · stride`."""
    return offset + sum(i * stride for i, stride in zip(index, strides, strict=True))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether every axis along which one can step has the stride of the row-major layout."""
    right = contiguous_strides(shape)
    return 0 in shape or all(n == 1 or a == b for n, a, b in zip(shape, strides, right, strict=True))
