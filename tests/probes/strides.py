"""Probes for strides; they pass shapes as tuples."""

from typing import Any

from torchkata import typed


@typed(lambda shape: f"contiguous_strides({tuple(shape)})")
def contiguous_strides(assignment: Any, shape: list[int]) -> object:
    """Call contiguous_strides."""
    return assignment.strides.contiguous_strides(tuple(shape))


@typed(
    lambda strides, offset, indices: "\n".join(
        f"storage_index({tuple(strides)}, {tuple(index)}, {offset})" for index in indices
    )
)
def storage_indices(assignment: Any, strides: list[int], offset: int, indices: list[list[int]]) -> list[object]:
    """Call storage_index for each index."""
    return [assignment.strides.storage_index(tuple(strides), tuple(index), offset) for index in indices]


@typed(lambda strides, index: f"storage_index({tuple(strides)}, {tuple(index)})")
def index_without_offset(assignment: Any, strides: list[int], index: list[int]) -> object:
    """Call storage_index without an offset."""
    return assignment.strides.storage_index(tuple(strides), tuple(index))


@typed(lambda shape, strides: f"is_contiguous({tuple(shape)}, {tuple(strides)})")
def is_contiguous(assignment: Any, shape: list[int], strides: list[int]) -> object:
    """Call is_contiguous."""
    return assignment.strides.is_contiguous(tuple(shape), tuple(strides))


@typed(lambda shape: f"contiguous_strides({tuple(shape)})")
def gives_a_tuple(assignment: Any, shape: list[int]) -> bool:
    """Return True if the strides are a tuple."""
    return isinstance(contiguous_strides(assignment, shape), tuple)
