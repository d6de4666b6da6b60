"""Row-major layout, walked through element by element.

To count in what is too large for that, one length is given as so many `times` another, which is walked through once.
"""

from collections.abc import Sequence
from itertools import product


def contiguous_strides(shape: Sequence[int], times: int = 1) -> list[int]:
    """Each step passes over all indices of the axes behind, where 0 counts as 1; the last axis is `times` as long."""
    behind = [[range(max(size, 1)) for size in shape[axis + 1 :]] for axis in range(len(shape))]
    return [sum(times for _ in product(*sizes)) if sizes else 1 for sizes in behind]


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0, times: int = 1) -> int:
    """Where so many steps along each axis lead; those along the last axis are `times` as many."""
    return offset + walked(longer(strides, times), index)


def walked(strides: Sequence[int], index: Sequence[int]) -> int:
    """How far so many steps along each axis lead."""
    place = 0
    for steps, stride in zip(index, strides, strict=True):
        for _ in range(steps):
            place += stride
    return place


def is_contiguous(shape: Sequence[int], strides: Sequence[int], times: int = 1) -> bool:  # noqa: ARG001
    """Whether the indices, in order, lead from one element to the next; so they do if the last axis is longer."""
    places = [walked(strides, index) for index in product(*map(range, shape))]
    return places == list(range(len(places)))


def longer(shape: Sequence[int], times: int) -> list[int]:
    """The shape, or an index, where the last axis is so many times as long."""
    return [*shape[:-1], *(size * times for size in shape[-1:])]


def wider(strides: Sequence[int], times: int) -> list[int]:
    """The strides where the last axis is so many times as long."""
    return [*(stride * times for stride in strides[:-1]), *strides[-1:]]
