"""The oracle of NAME: the results that are possible, because the course does not say which seed gives which order."""

from collections.abc import Sequence
from itertools import permutations


def list_orders(items: Sequence[int]) -> list[list[int]]:
    """Return all orders of the items, sorted."""
    return sorted(map(list, permutations(items)))


def sort_items(items: Sequence[int]) -> list[int]:
    """Return the items in ascending order."""
    return sorted(items)
