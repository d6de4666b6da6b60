"""Mistakes about strides."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference.strides import oracle
from torchkata import instead_of


@instead_of(oracle.contiguous_strides, "the first axis is taken for the one whose elements lie closest together")
def column_major(shape: Sequence[int], times: int = 1) -> list[int]:
    shape = oracle.longer(shape, times)
    strides, step = [], 1
    for size in shape:
        strides.append(step)
        step *= max(size, 1)
    return strides


@instead_of(oracle.contiguous_strides, "each stride is multiplied by the axis' own size, not by those behind it alone")
def own_size_included(shape: Sequence[int], times: int = 1) -> list[int]:
    right = oracle.contiguous_strides(shape, times)
    return [stride * max(size, 1) for stride, size in zip(right, oracle.longer(shape, times), strict=True)]


@instead_of(oracle.contiguous_strides, "the strides count bytes, as in NumPy, not elements")
def bytes_of_float32(shape: Sequence[int], times: int = 1) -> list[int]:
    return [4 * stride for stride in oracle.contiguous_strides(shape, times)]


@instead_of(oracle.contiguous_strides, "a size of 0 makes the strides before it 0; it counts as 1")
def zero_multiplied(shape: Sequence[int], times: int = 1) -> list[int]:
    shape = oracle.longer(shape, times)
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


@instead_of(oracle.contiguous_strides, "each stride is the size of the next axis alone, not of all behind it")
def next_size(shape: Sequence[int], times: int = 1) -> list[int]:
    shape = oracle.longer(shape, times)
    return [*(max(size, 1) for size in shape[1:]), 1][: len(shape)]


@instead_of(oracle.contiguous_strides, "the sizes behind each axis are added up, not multiplied")
def sums(shape: Sequence[int], times: int = 1) -> list[int]:
    shape = oracle.longer(shape, times)
    return [1 + sum(max(size, 1) for size in shape[axis + 1 :]) for axis in range(len(shape))]


@instead_of(oracle.contiguous_strides, "the strides are in reverse order: the last axis' comes first")
def reverse_order(shape: Sequence[int], times: int = 1) -> list[int]:
    return oracle.contiguous_strides(shape, times)[::-1]


@instead_of(oracle.contiguous_strides, "all strides are 0 where a size is 0; that size counts as 1")
def zeros_where_empty(shape: Sequence[int], times: int = 1) -> list[int]:
    return [0] * len(shape) if 0 in shape else oracle.contiguous_strides(shape, times)


@instead_of(oracle.contiguous_strides, "a scalar is given a stride: it has no axis, and so none")
def stride_of_a_scalar(shape: Sequence[int], times: int = 1) -> list[int]:
    return oracle.contiguous_strides(shape, times) or [1]


@instead_of(
    oracle.contiguous_strides, "the strides are counted in single precision, which loses the last digits of large ones"
)
def single_precision(shape: Sequence[int], times: int = 1) -> list[int]:
    return multiplied(oracle.longer(shape, times), np.float32)


@instead_of(oracle.contiguous_strides, "the strides are counted in floats, which lose the last digits of large ones")
def double_precision(shape: Sequence[int], times: int = 1) -> list[int]:
    return multiplied(oracle.longer(shape, times), np.float64)


@instead_of(oracle.contiguous_strides, "the strides are floats, not ints")
def floats(shape: Sequence[int], times: int = 1) -> list[float]:
    return [float(stride) for stride in oracle.contiguous_strides(shape, times)]


@instead_of(oracle.storage_index, "the place is counted in floats, which lose the last digits of large ones")
def place_in_floats(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return int(offset + sum(float(i) * stride for i, stride in zip(oracle.longer(index, times), strides, strict=True)))


@instead_of(oracle.storage_index, "the offset is left out")
def without_offset(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index(strides, index, 0, times)


@instead_of(oracle.storage_index, "index and strides are matched the wrong way round")
def backwards(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return offset + sum(i * stride for i, stride in zip(oracle.longer(index, times)[::-1], strides, strict=True))


@instead_of(oracle.storage_index, "the offset is added for every axis; it counts once")
def offset_for_each_axis(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index(strides, index, len(index) * offset, times)


@instead_of(oracle.storage_index, "the offset is counted in steps of the first axis: it counts elements of the storage")
def offset_in_rows(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index(strides, index, 0, times) + offset * (strides[0] if strides else 1)


@instead_of(oracle.storage_index, "the last axis is left out")
def without_last_axis(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index(strides[:-1], index[:-1], offset)


@instead_of(oracle.storage_index, "the last axis is taken to have stride 1, whatever its stride is")
def last_axis_together(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index([*strides[:-1], 1][: len(strides)], index, offset, times)


@instead_of(oracle.storage_index, "a stride of 0 is taken for 1: along an expanded axis no step goes anywhere")
def zero_is_one(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index([stride or 1 for stride in strides], index, offset, times)


@instead_of(oracle.is_contiguous, "the stride of an axis of size 1 is compared, though no step is taken along it")
def every_stride(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return 0 in shape or list(strides) == oracle.contiguous_strides(shape)


@instead_of(oracle.is_contiguous, "the stride of an axis of size 2 is passed over: only size 1 lets it be anything")
def two_is_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    right = oracle.contiguous_strides(shape, times)
    shape, strides = oracle.longer(shape, times), oracle.wider(strides, times)
    return 0 in shape or all(n <= 2 or a == b for n, a, b in zip(shape, strides, right, strict=True))


@instead_of(
    oracle.is_contiguous, "the strides of a tensor without elements are compared: it is contiguous whatever they are"
)
def empty_compared(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, oracle.contiguous_strides(shape), strict=True))


@instead_of(oracle.is_contiguous, "only the last stride is looked at")
def last_is_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return 0 in shape or not shape or shape[-1] == 1 or strides[-1] == 1


@instead_of(oracle.is_contiguous, "strides that fall from left to right are taken for contiguous: there may be gaps")
def falling(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    strides = oracle.wider(strides, times)
    return 0 in shape or list(strides) == sorted(strides, reverse=True)


@instead_of(oracle.is_contiguous, "the strides are compared in any order: those of a transpose are the same, swapped")
def any_order(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    strides, right = oracle.wider(strides, times), oracle.contiguous_strides(shape, times)
    axes = [axis for axis, size in enumerate(shape) if size > 1]
    return 0 in shape or sorted(strides[axis] for axis in axes) == sorted(right[axis] for axis in axes)


@instead_of(oracle.is_contiguous, "only the distance to the last element is compared: in a transpose it is the same")
def no_gaps(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    right = oracle.contiguous_strides(shape, times)
    shape, strides = oracle.longer(shape, times), oracle.wider(strides, times)
    return 0 in shape or sum((n - 1) * (a - b) for n, a, b in zip(shape, strides, right, strict=True)) == 0


@instead_of(oracle.is_contiguous, "every tensor is said to be contiguous")
def always(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return True


@instead_of(oracle.is_contiguous, "a tensor without elements is said not to be contiguous")
def empty_is_not(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return 0 not in shape and oracle.is_contiguous(shape, strides)


@instead_of(oracle.is_contiguous, "the answer is a number, not a bool")
def number_for_an_answer(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> int:
    return int(oracle.is_contiguous(shape, strides))


def multiplied(shape: Sequence[int], dtype: type[np.floating[Any]]) -> list[int]:
    """The products of all sizes behind, worked out in this dtype."""
    sizes = [dtype(max(size, 1)) for size in shape]
    return [int(np.prod(sizes[:axis:-1], dtype=dtype)) for axis in range(len(sizes))]


def row_major(shape: Sequence[int]) -> list[int]:
    """The right strides, whatever stands in the oracle now."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


@instead_of(oracle.is_contiguous, "the last stride has to be 1 even where no step is taken along the last axis")
def last_has_to_be_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return (not strides or strides[-1] == 1) and oracle.is_contiguous(shape, strides, times)
