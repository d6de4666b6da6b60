"""Views live where their source lives; copies begin an allocation of their own."""

from collections.abc import Sequence


def allocations(sources: Sequence[int | None]) -> list[int]:
    """Number each tensor's allocation: `sources[i]` is the earlier tensor that it is a view of, None if it is new."""
    owner: list[int] = []
    for i, source in enumerate(sources):
        owner.append(i if source is None else owner[source])
    return owner


def same_storage(sources: Sequence[int | None]) -> list[list[bool]]:
    """Tell for every pair of tensors whether they share an allocation."""
    owner = allocations(sources)
    return [[a == b for b in owner] for a in owner]
