"""NAME: a random order of some items, determined by a seed."""

from random import Random


def NAME(items: list[int], seed: int) -> list[int]:
    """Return `items` in a random order; each order is equally likely, and the same seed gives the same order."""
    source = Random(seed)
    order = list(items)
    source.shuffle(order)
    return order
