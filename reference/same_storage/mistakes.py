"""Mistakes about what shares memory."""

from collections.abc import Sequence

from reference import instead_of
from reference.same_storage import oracle


@instead_of(oracle.same_storage, "only one and the same object is said to share its storage: a view is another object")
def same_object(sources: Sequence[int | None]) -> list[list[bool]]:
    """As `is` tells."""
    places = range(len(sources))
    return [[a == b for b in places] for a in places]
