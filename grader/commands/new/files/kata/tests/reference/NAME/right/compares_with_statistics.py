"""Compares `median` with the one of the standard library on random lists."""

import statistics
from collections.abc import Callable
from random import Random


def NAME(median: Callable[[list[float]], float]) -> bool:
    source = Random(0)
    lists = [[float(source.randrange(100)) for _ in range(1 + count % 6)] for count in range(50)]
    return all(median(list(numbers)) == statistics.median(numbers) for numbers in lists)
