"""Mistakes in timing a product."""

from collections.abc import Sequence

from reference.misconceptions import instead_of
from reference.oracle import time_matmul as oracle


@instead_of(oracle.seconds_per_product, "the first product, which warms up, is timed with the others")
def with_the_first(timed: Sequence[float], warm: Sequence[float]) -> tuple[float, float]:
    """The mean of all that were timed."""
    mean = sum(timed) / len(timed)
    return mean, mean


@instead_of(oracle.seconds_per_product, "this is the time of all products together, not of one")
def all_together(timed: Sequence[float], warm: Sequence[float]) -> tuple[float, float]:
    """Not divided by how many."""
    total = sum(timed)
    return total, total


@instead_of(oracle.seconds_per_product, "this is in milliseconds, not in seconds")
def in_milliseconds(timed: Sequence[float], warm: Sequence[float]) -> tuple[float, float]:
    """As CUDA's events count."""
    return 1e3 * min(warm), 1e3 * max(warm)


@instead_of(oracle.seconds_per_product, "this is in nanoseconds, not in seconds")
def in_nanoseconds(timed: Sequence[float], warm: Sequence[float]) -> tuple[float, float]:
    """As perf_counter_ns counts."""
    return 1e9 * min(warm), 1e9 * max(warm)


@instead_of(oracle.seconds_per_product, "the clock is read before the device is done: only the queueing is timed")
def not_waited_for(timed: Sequence[float], warm: Sequence[float]) -> tuple[float, float]:
    """Nothing but what comes on top."""
    return 0.0, 0.0
