"""Probes for strides. Shapes and indices are passed as tuples unless `kind` names another type of sequence."""

from typing import Any

from torchkata import typed

from .sequences import make


@typed(lambda shape: f"contiguous_strides({tuple(shape)})")
def contiguous_strides(assignment: Any, shape: list[int]) -> object:
    """Call `contiguous_strides`."""
    return assignment.strides.contiguous_strides(tuple(shape))


@typed(
    lambda strides, offset, indices: "\n".join(
        f"storage_index({tuple(strides)}, {tuple(index)}, {offset})" for index in indices
    )
)
def storage_indices(assignment: Any, strides: list[int], offset: int, indices: list[list[int]]) -> list[object]:
    """Call `storage_index` for each index."""
    return [assignment.strides.storage_index(tuple(strides), tuple(index), offset) for index in indices]


@typed(lambda strides, index, kind: f"storage_index({make(kind, strides)}, {make(kind, index)})")
def index_without_offset(assignment: Any, strides: list[int], index: list[int], kind: str) -> object:
    """Call `storage_index` without an offset."""
    return assignment.strides.storage_index(make(kind, strides), make(kind, index))


@typed(lambda shape, strides, kind: f"is_contiguous({make(kind, shape)}, {make(kind, strides)})")
def is_contiguous(assignment: Any, shape: list[int], strides: list[int], kind: str) -> object:
    """Call `is_contiguous`."""
    return assignment.strides.is_contiguous(make(kind, shape), make(kind, strides))


@typed(lambda shape, kind: f"contiguous_strides({make(kind, shape)})")
def gives_a_tuple(assignment: Any, shape: list[int], kind: str) -> bool:
    """Return True if the strides are returned as a tuple."""
    return isinstance(assignment.strides.contiguous_strides(make(kind, shape)), tuple)
