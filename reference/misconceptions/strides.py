"""Mistakes about strides."""

from collections.abc import Sequence

from reference.misconceptions import instead_of
from reference.oracle import strides as oracle


@instead_of(oracle.contiguous_strides, "the first axis is taken for the one whose elements lie closest together")
def column_major(shape: Sequence[int]) -> list[int]:
    """As in Fortran."""
    strides, step = [], 1
    for size in shape:
        strides.append(step)
        step *= max(size, 1)
    return strides


@instead_of(oracle.contiguous_strides, "each stride is multiplied by the axis' own size, not by those behind it alone")
def own_size_included(shape: Sequence[int]) -> list[int]:
    """One axis too far."""
    return [stride * max(size, 1) for stride, size in zip(row_major(shape), shape, strict=True)]


@instead_of(oracle.contiguous_strides, "the strides count bytes, as in NumPy, not elements")
def bytes_of_float32(shape: Sequence[int]) -> list[int]:
    """Four bytes an element."""
    return [4 * stride for stride in row_major(shape)]


@instead_of(oracle.contiguous_strides, "a size of 0 makes the strides before it 0; it counts as 1")
def zero_multiplied(shape: Sequence[int]) -> list[int]:
    """The plain product."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


@instead_of(oracle.contiguous_strides, "each stride is the size of the next axis alone, not of all behind it")
def next_size(shape: Sequence[int]) -> list[int]:
    """Right for matrices."""
    return [*(max(size, 1) for size in shape[1:]), 1][: len(shape)]


@instead_of(oracle.storage_index, "the offset is left out")
def without_offset(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    """Right for tensors that begin where their storage begins."""
    return sum(i * stride for i, stride in zip(index, strides, strict=True))


@instead_of(oracle.storage_index, "index and strides are matched the wrong way round")
def backwards(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    """The last index with the first stride."""
    return offset + sum(i * stride for i, stride in zip(reversed(index), strides, strict=True))


@instead_of(oracle.is_contiguous, "the stride of an axis of size 1 is compared, though no step is taken along it")
def every_stride(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """All strides, exactly."""
    return 0 in shape or list(strides) == row_major(shape)


@instead_of(oracle.is_contiguous, "a tensor without elements is contiguous, whatever its strides")
def empty_compared(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """No exception for it."""
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, row_major(shape), strict=True))


@instead_of(oracle.is_contiguous, "only the last stride is looked at")
def last_is_one(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Gaps between rows go unseen."""
    return 0 in shape or not shape or shape[-1] == 1 or strides[-1] == 1


@instead_of(oracle.is_contiguous, "strides that fall from left to right are taken for contiguous: there may be gaps")
def falling(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """No transpose, but perhaps a slice."""
    return 0 in shape or list(strides) == sorted(strides, reverse=True)


def row_major(shape: Sequence[int]) -> list[int]:
    """The right strides, whatever stands in the oracle now."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides
