"""What a stopwatch should say of products whose durations are known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

AT_LEAST = 3
UNEVEN = 1.1  # products that nothing disturbs differ by no more than this


@dataclass(frozen=True)
class Product:
    """A product of matrices that was done."""

    seconds: float
    whole: bool  # a @ b itself, not a part of it nor another one
    cold: bool  # the first of its shape, where that takes longer
    timed: bool  # a clock had been looked at before


@dataclass(frozen=True)
class Run:
    """What happened while somebody timed a @ b."""

    products: Sequence[Product]
    looks: int  # how often one of time's clocks, or an event of the device, was looked at
    flops: int  # of a @ b
    busy: float  # for how many seconds the device had other work at the start
    disturbed: bool  # the calendar was set in between, and two threads were at work
    on_top: float  # the most that launching a product and reading the clock add

    @property
    def timed(self) -> list[float]:
        """The seconds of all products after the first look at a clock."""
        return [product.seconds for product in self.products if product.timed]

    @property
    def warm(self) -> list[float]:
        """The seconds of those that should be timed."""
        return [each.seconds for each in self.products if each.timed and each.whole and not each.cold]


def seconds_per_product(run: Run) -> tuple[float, float]:
    """From the fastest of those that are warm to what a mean of three can be, one of them disturbed; NaN if none is."""
    fastest, slowest = min(run.warm, default=math.nan), max(run.warm, default=math.nan)
    return fastest, min(slowest, UNEVEN * (slowest + 2 * fastest) / 3)


def is_that_of_one(seconds: float, run: Run) -> bool:
    """Whether an answer is the time of one product."""
    low, high = seconds_per_product(run)
    rounding = 1e-6 * abs(low)
    return low - rounding <= seconds <= high + run.on_top + rounding


def is_enough(run: Run) -> bool:
    """Whether three products or more were timed, after one that was not or among more than three."""
    return len(run.timed) >= AT_LEAST and len(run.products) > AT_LEAST


def is_a_time(answer: object) -> bool:
    """Whether this can be the seconds of a product on a real machine."""
    return type(answer) is float and 0 < answer < math.inf
