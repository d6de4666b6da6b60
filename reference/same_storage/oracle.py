"""Views live where their source lives; copies begin an allocation of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Placed:
    """A tensor, and the number of its allocation, which follows from how it was made and not from what torch says."""

    tensor: Tensor
    allocation: int


def allocations(sources: Sequence[int | None]) -> list[int]:
    """Number each tensor's allocation: `sources[i]` is the earlier tensor that it is a view of, None if it is new."""
    owner: list[int] = []
    for i, source in enumerate(sources):
        owner.append(i if source is None else owner[source])
    return owner


def same_storage(x: Placed, y: Placed) -> bool:
    """Whether two tensors share an allocation."""
    return x.allocation == y.allocation
