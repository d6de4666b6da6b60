"""Oracle for strides that walks through the row-major layout element by element.

To save time, the oracle walks through a small tensor if the last dimension is a multiple (`times`) of a small size.
"""

from collections.abc import Sequence
from itertools import product


def contiguous_strides(shape: Sequence[int], times: int = 1) -> list[int]:
    """Count the index combinations of the later dimensions. Size 0 counts as 1; `times` multiplies the last size."""
    behind = [[range(max(size, 1)) for size in shape[axis + 1 :]] for axis in range(len(shape))]
    return [sum(times for _ in product(*sizes)) if sizes else 1 for sizes in behind]


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    """Return the position in storage of an index whose last entry is multiplied by `times`."""
    return offset + walk(lengthen(strides, times), index)


def walk(strides: Sequence[int], index: Sequence[int]) -> int:
    """Return the distance in storage after the given steps in each dimension."""
    place = 0
    for steps, stride in zip(index, strides, strict=True):
        for _ in range(steps):
            place += stride
    return place


def is_contiguous(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:  # noqa: ARG001
    """Return True if consecutive indices are adjacent in storage. A longer last dimension does not change this."""
    places = [walk(strides, index) for index in product(*map(range, shape))]
    return places == list(range(len(places)))


def lengthen(shape: Sequence[int], times: int) -> list[int]:
    """Return the shape or index with its last entry multiplied by `times`."""
    return [*shape[:-1], *(size * times for size in shape[-1:])]


def widen(strides: Sequence[int], times: int) -> list[int]:
    """Return the strides of a tensor with a last dimension that is `times` times as long."""
    return [*(stride * times for stride in strides[:-1]), *strides[-1:]]
