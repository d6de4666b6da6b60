"""Computes in NumPy's int64 and returns Python ints."""

from collections.abc import Sequence

import numpy as np


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    sizes = np.maximum(np.asarray(shape, dtype=np.int64), 1)
    return tuple(np.cumprod(np.append(1, sizes[:0:-1]))[::-1].tolist())[: len(shape)]


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    return int(np.dot(np.asarray(strides, dtype=np.int64), np.asarray(index, dtype=np.int64))) + offset


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    sizes = np.asarray(shape, dtype=np.int64)
    kept = np.asarray(strides, dtype=np.int64)[sizes != 1]
    sizes = sizes[sizes != 1]
    return bool(not sizes.all() or np.array_equal(kept, contiguous_strides(sizes.tolist())))
