"""Common mistakes in strides."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference.strides import oracle
from torchkata import instead_of


@instead_of(oracle.contiguous_strides, "gives the first axis stride 1 (column-major) instead of the last")
def column_major(shape: Sequence[int], times: int = 1) -> list[int]:
    sizes = [max(size, 1) for size in oracle.lengthen(shape, times)]
    return [math.prod(sizes[:axis]) for axis in range(len(sizes))]


@instead_of(
    oracle.contiguous_strides, "includes the size of the axis itself in its stride: multiply only the later sizes"
)
def own_size_included(shape: Sequence[int], times: int = 1) -> list[int]:
    right = oracle.contiguous_strides(shape, times)
    return [stride * max(size, 1) for stride, size in zip(right, oracle.lengthen(shape, times), strict=True)]


@instead_of(oracle.contiguous_strides, "every stride is four times too large: strides count elements, not bytes")
def bytes_of_float32(shape: Sequence[int], times: int = 1) -> list[int]:
    return [4 * stride for stride in oracle.contiguous_strides(shape, times)]


@instead_of(oracle.contiguous_strides, "multiplies by a size of 0, which should count as 1 in strides")
def zero_multiplied(shape: Sequence[int], times: int = 1) -> list[int]:
    shape = oracle.lengthen(shape, times)
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


@instead_of(oracle.contiguous_strides, "drops the sizes after a size of 0, which should count as 1 in strides")
def begun_anew(shape: Sequence[int], times: int = 1) -> list[int]:
    strides = [1]
    for size in oracle.lengthen(shape, times)[:0:-1]:
        strides.insert(0, max(1, strides[0] * size))
    return strides[: len(shape)]


@instead_of(oracle.contiguous_strides, "uses only the size of the next axis instead of the product of all later sizes")
def next_size(shape: Sequence[int], times: int = 1) -> list[int]:
    shape = oracle.lengthen(shape, times)
    return [*(max(size, 1) for size in shape[1:]), 1][: len(shape)]


@instead_of(oracle.contiguous_strides, "adds the later sizes instead of multiplying them")
def sums(shape: Sequence[int], times: int = 1) -> list[int]:
    shape = oracle.lengthen(shape, times)
    return [1 + sum(max(size, 1) for size in shape[axis + 1 :]) for axis in range(len(shape))]


@instead_of(oracle.contiguous_strides, "returns the strides in reverse order, the last axis first")
def reverse_order(shape: Sequence[int], times: int = 1) -> list[int]:
    return oracle.contiguous_strides(shape, times)[::-1]


@instead_of(oracle.contiguous_strides, "returns only zeros if a size is 0, which should count as 1 in strides")
def zeros_where_empty(shape: Sequence[int], times: int = 1) -> list[int]:
    return [0] * len(shape) if 0 in shape else oracle.contiguous_strides(shape, times)


@instead_of(oracle.contiguous_strides, "returns a stride for a scalar, which has no axes")
def stride_of_a_scalar(shape: Sequence[int], times: int = 1) -> list[int]:
    return oracle.contiguous_strides(shape, times) or [1]


@instead_of(oracle.contiguous_strides, "large strides are rounded, as in float32")
def single_precision(shape: Sequence[int], times: int = 1) -> list[int]:
    return multiply_sizes(oracle.lengthen(shape, times), np.float32)


@instead_of(oracle.contiguous_strides, "large strides are rounded, as in floats")
def double_precision(shape: Sequence[int], times: int = 1) -> list[int]:
    return multiply_sizes(oracle.lengthen(shape, times), np.float64)


@instead_of(oracle.contiguous_strides, "returns floats instead of ints")
def floats(shape: Sequence[int], times: int = 1) -> list[float]:
    return [float(stride) for stride in oracle.contiguous_strides(shape, times)]


@instead_of(oracle.storage_index, "large positions are rounded, as in floats")
def place_in_floats(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return int(
        offset + sum(float(i) * stride for i, stride in zip(oracle.lengthen(index, times), strides, strict=True))
    )


@instead_of(oracle.storage_index, "ignores the offset")
def without_offset(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index(strides, index, 0, times)


@instead_of(oracle.storage_index, "pairs the index with the strides in reverse order")
def backwards(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return offset + sum(i * stride for i, stride in zip(oracle.lengthen(index, times)[::-1], strides, strict=True))


@instead_of(oracle.storage_index, "adds the offset once per axis instead of only once")
def offset_for_each_axis(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index(strides, index, len(index) * offset, times)


@instead_of(
    oracle.storage_index,
    "multiplies the offset by the {which} stride: the offset already counts elements",
    which=["first", "last"],
)
def offset_in_steps(
    strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1, *, which: str
) -> int:
    factor = strides[0 if which == "first" else -1] if strides else 1
    return oracle.storage_index(strides, index, 0, times) + offset * factor


@instead_of(oracle.storage_index, "ignores the last axis")
def without_last_axis(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index(strides[:-1], index[:-1], offset)


@instead_of(oracle.storage_index, "assumes stride 1 for the last axis")
def last_axis_together(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index([*strides[:-1], 1][: len(strides)], index, offset, times)


@instead_of(
    oracle.storage_index, "replaces a stride of 0 with 1: a step along an expanded axis stays at the same element"
)
def zero_is_one(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    return oracle.storage_index([stride or 1 for stride in strides], index, offset, times)


@instead_of(oracle.is_contiguous, "compares the stride of an axis of size 1, which is never used")
def every_stride(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return 0 in shape or list(strides) == oracle.contiguous_strides(shape)


@instead_of(
    oracle.is_contiguous, "ignores the stride of the last axis if its size is 1, but not of other axes of size 1"
)
def only_last_ignored(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    right = oracle.contiguous_strides(shape, times)
    shape, strides = oracle.lengthen(shape, times), oracle.widen(strides, times)
    return 0 in shape or (strides[:-1] == right[:-1] and (shape[-1:] == [1] or strides[-1:] == right[-1:]))


@instead_of(oracle.is_contiguous, "requires stride 1 of an axis of size 1: it may have any stride")
def one_if_size_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    used = zip(oracle.lengthen(shape, times), oracle.widen(strides, times), strict=True)
    return 0 in shape or (oracle.is_contiguous(shape, strides, times) and all(n != 1 or a == 1 for n, a in used))


@instead_of(oracle.is_contiguous, "ignores the stride of an axis of size 2: only size 1 allows any stride")
def two_is_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    right = oracle.contiguous_strides(shape, times)
    shape, strides = oracle.lengthen(shape, times), oracle.widen(strides, times)
    return 0 in shape or all(n <= 2 or a == b for n, a, b in zip(shape, strides, right, strict=True))


@instead_of(oracle.is_contiguous, "returns True whenever an axis has size 1: only the stride of that axis is ignored")
def one_axis_is_enough(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return 1 in oracle.lengthen(shape, times) or oracle.is_contiguous(shape, strides, times)


@instead_of(oracle.is_contiguous, "compares the strides of a tensor without elements, which is always contiguous")
def empty_compared(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, oracle.contiguous_strides(shape), strict=True))


@instead_of(oracle.is_contiguous, "compares only the last stride")
def last_is_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return 0 in shape or not shape or shape[-1] == 1 or strides[-1] == 1


@instead_of(oracle.is_contiguous, "does not compare the last stride")
def last_not_compared(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    right = oracle.contiguous_strides(shape, times)
    shape, strides = oracle.lengthen(shape, times), oracle.widen(strides, times)
    return 0 in shape or all(n == 1 or a == b for n, a, b in [*zip(shape, strides, right, strict=True)][:-1])


@instead_of(oracle.is_contiguous, "returns False for a scalar, whose only element has no gaps")
def scalar_is_not(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return len(shape) > 0 and oracle.is_contiguous(shape, strides, times)


@instead_of(oracle.is_contiguous, "accepts any decreasing strides: there may be gaps")
def falling(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    strides = oracle.widen(strides, times)
    return 0 in shape or list(strides) == sorted(strides, reverse=True)


@instead_of(oracle.is_contiguous, "accepts any decreasing strides that end in 1: there may be gaps")
def falling_to_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    strides = oracle.widen(strides, times)
    return 0 in shape or not strides or (list(strides) == sorted(strides, reverse=True) and strides[-1] == 1)


@instead_of(oracle.is_contiguous, "compares the strides in any order: a transpose has the same strides, swapped")
def any_order(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    strides, right = oracle.widen(strides, times), oracle.contiguous_strides(shape, times)
    axes = [axis for axis, size in enumerate(shape) if size > 1]
    return 0 in shape or sorted(strides[axis] for axis in axes) == sorted(right[axis] for axis in axes)


@instead_of(
    oracle.is_contiguous, "returns True whenever the last element is in the right place, as it is in a transpose"
)
def no_gaps(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return ends_in_place(shape, strides, times)


def ends_in_place(shape: Sequence[int], strides: Sequence[int], times: int) -> bool:
    """Return whether the last element has the same position as in a contiguous tensor, or there are no elements."""
    right = oracle.contiguous_strides(shape, times)
    shape, strides = oracle.lengthen(shape, times), oracle.widen(strides, times)
    return 0 in shape or sum((n - 1) * (a - b) for n, a, b in zip(shape, strides, right, strict=True)) == 0


@instead_of(oracle.is_contiguous, "checks only the order of the strides and the position of the last element")
def order_and_end(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    sizes = zip(oracle.lengthen(shape, times), oracle.widen(strides, times), strict=True)
    used = [stride for size, stride in sizes if size > 1]
    return 0 in shape or (ends_in_place(shape, strides, times) and used == sorted(used, reverse=True))


@instead_of(oracle.is_contiguous, "always returns True")
def always(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return True


@instead_of(oracle.is_contiguous, "returns False for a tensor without elements")
def empty_is_not(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return 0 not in shape and oracle.is_contiguous(shape, strides)


@instead_of(oracle.is_contiguous, "returns a number instead of a bool")
def number_for_an_answer(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> int:
    return int(oracle.is_contiguous(shape, strides))


def multiply_sizes(shape: Sequence[int], dtype: type[np.floating[Any]]) -> list[int]:
    """Return the products of all later sizes, computed in the given dtype."""
    sizes = [dtype(max(size, 1)) for size in shape]
    return [int(np.prod(sizes[:axis:-1], dtype=dtype)) for axis in range(len(sizes))]


@instead_of(
    oracle.is_contiguous, "requires the last stride to be 1 even if the last axis has size 1 or the tensor is empty"
)
def last_has_to_be_one(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:
    return (not strides or strides[-1] == 1) and oracle.is_contiguous(shape, strides, times)
