"""Oracle for time_matmul that knows the duration of each matmul."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

AT_LEAST = 3
UNEVEN = 1.1  # undisturbed products differ by at most this factor


@dataclass(frozen=True)
class Product:
    """A recorded matrix multiplication."""

    seconds: float
    whole: bool  # whether it is a @ b itself, not a part of it or another product
    cold: bool  # whether it is the first one of its shape and therefore takes longer
    timed: bool  # whether it was computed after the first reading of a clock


@dataclass(frozen=True)
class Run:
    """The events during a call of time_matmul."""

    products: Sequence[Product]
    looks: int  # number of readings of clocks and device events
    flops: int  # FLOPs of a @ b
    busy: float  # seconds of other work that was queued on the device at the start
    disturbed: bool  # whether the system clock was adjusted during the call and two threads were busy
    on_top: float  # maximum seconds added by launches and clock reads

    @property
    def timed(self) -> list[float]:
        """The seconds of all matmuls after the clock was first read."""
        return [product.seconds for product in self.products if product.timed]

    @property
    def warm(self) -> list[float]:
        """The seconds of the matmuls that should be timed."""
        return [each.seconds for each in self.products if each.timed and each.whole and not each.cold]


def seconds_per_product(run: Run) -> tuple[float, float]:
    """Return the range of correct results: from the minimum to the mean of three matmuls, one of them disturbed.

    The bounds are NaN if no matmul was timed.
    """
    fastest, slowest = min(run.warm, default=math.nan), max(run.warm, default=math.nan)
    return fastest, min(slowest, UNEVEN * (slowest + 2 * fastest) / 3)


def is_that_of_one(seconds: float, run: Run) -> bool:
    """Return True if the result is the time of a single matmul."""
    low, high = seconds_per_product(run)
    rounding = 1e-6 * abs(low)
    return low - rounding <= seconds <= high + run.on_top + rounding


def is_enough(run: Run) -> bool:
    """Return True if at least three matmuls were timed, and at least one more was computed."""
    return len(run.timed) >= AT_LEAST and len(run.products) > AT_LEAST


def is_a_time(answer: object) -> bool:
    """Return True if this is a plausible time on a real machine."""
    return type(answer) is float and 0 < answer < math.inf
