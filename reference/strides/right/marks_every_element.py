"""Follows the definition: walks through small tensors, and asks whether the elements come one after the other."""

import itertools
import math
from collections.abc import Sequence


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The product of all sizes behind, for each axis anew."""
    return tuple(math.prod(size or 1 for size in shape[axis + 1 :]) for axis in range(len(shape)))


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    """Adds one stride for every step."""
    place = offset
    for stride, steps in zip(strides, index, strict=True):
        for _ in range(steps):
            place += stride
    return place


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """All indices, in their order."""
    indices = itertools.product(*map(range, shape))
    return all(storage_index(strides, index) == place for place, index in enumerate(indices))
