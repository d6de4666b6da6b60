"""Oracle for same_storage: a view shares the allocation of its source, and a copy has a new one."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Placed:
    """A tensor and the number of its allocation, which depends only on the steps that created the tensor."""

    tensor: Tensor
    allocation: int


def allocations(sources: Sequence[int | None]) -> list[int]:
    """Return the allocation of each tensor. Tensor i is a view of `sources[i]`, or a new tensor if that is None."""
    owner: list[int] = []
    for i, source in enumerate(sources):
        owner.append(i if source is None else owner[source])
    return owner


def same_storage(x: Placed, y: Placed) -> bool:
    """Return True if both tensors have the same allocation."""
    return x.allocation == y.allocation
