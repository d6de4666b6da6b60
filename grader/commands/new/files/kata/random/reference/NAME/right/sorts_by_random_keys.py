"""Sorts the items by random numbers."""

from random import Random


def NAME(items: list[int], seed: int) -> list[int]:
    source = Random(seed)
    return sorted(items, key=lambda _: source.random())
