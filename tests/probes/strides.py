"""Probes of strides; shapes go to the student as tuples."""

from typing import Any


def contiguous_strides(assignment: Any, shape: list[int]) -> object:
    """The strides of a contiguous tensor."""
    return assignment.strides.contiguous_strides(tuple(shape))


def storage_indices(assignment: Any, strides: list[int], offset: int, indices: list[list[int]]) -> list[object]:
    """Where the elements with these indices are."""
    return [assignment.strides.storage_index(tuple(strides), tuple(index), offset) for index in indices]


def index_without_offset(assignment: Any, strides: list[int], index: list[int]) -> object:
    """Where an element is when nothing is said of an offset."""
    return assignment.strides.storage_index(tuple(strides), tuple(index))


def is_contiguous(assignment: Any, shape: list[int], strides: list[int]) -> object:
    """Whether this is a contiguous tensor."""
    return assignment.strides.is_contiguous(tuple(shape), tuple(strides))


def gives_a_tuple(assignment: Any, shape: list[int]) -> bool:
    """Whether the strides come as a tuple."""
    return isinstance(contiguous_strides(assignment, shape), tuple)
