"""Common mistakes in time_matmul."""

from itertools import accumulate
from math import nan
from statistics import fmean, median

from reference.time_matmul import oracle
from reference.time_matmul.oracle import Run
from torchkata import instead_of

SLOW = 5e-3  # seconds of a matmul that is slow compared to the fastest ones in the tests
LARGEST_JUMP = 1e5  # maximum seconds by which the system clock is adjusted


def list_timed(run: Run) -> list[float]:
    """Return the seconds of each timed `a @ b`, including one without a warm-up."""
    return [product.seconds for product in run.products if product.timed and product.whole]


@instead_of(oracle.seconds_per_product, "times the first matmul, which should be a warm-up")
def with_the_first(run: Run) -> tuple[float, float]:
    return oracle.seconds_per_product(run) if warms_up_another(run) else average_with_the_first(run)


@instead_of(
    oracle.seconds_per_product,
    "the warm-up has another shape, so the first matmul of this shape is timed",
)
def warmed_up_with_another(run: Run) -> tuple[float, float]:
    return average_with_the_first(run) if warms_up_another(run) else oracle.seconds_per_product(run)


def warms_up_another(run: Run) -> bool:
    """Return whether the only matmuls before the first reading of a clock differ from a @ b."""
    before = [product.whole for product in run.products if not product.timed]
    return bool(before) and not any(before)


def average_with_the_first(run: Run) -> tuple[float, float]:
    """Return the mean of all timed matmuls if the slow first one is timed."""
    if not any(product.cold and product.timed for product in run.products):
        return oracle.seconds_per_product(run)
    mean = fmean(list_timed(run))
    return mean, mean


@instead_of(oracle.is_enough, "no matmul runs before the clock is read for the first time: warm up first")
def none_before(run: Run) -> bool:
    return len(run.timed) == len(run.products) > 0


@instead_of(oracle.seconds_per_product, "returns the total time of all matmuls instead of the time of one")
def all_together(run: Run) -> tuple[float, float]:
    total = fmean(list_timed(run)) * len(list_timed(run))
    return total, total


@instead_of(
    oracle.seconds_per_product,
    "returns {count:g} times the time of one matmul",
    count=[2, 3, 4, 5, 6, 7, 8, 10, 16, 20, 30, 32, 50, 64, 100],
)
def several_together(run: Run, count: int) -> tuple[float, float]:
    if count == len(list_timed(run)) or run.busy:
        return nan, nan  # all_together and started_too_early describe these cases
    return count * min(run.warm), count * max(run.warm)


@instead_of(oracle.seconds_per_product, "divides by the number of all matmuls, including the warm-up")
def divided_by_too_many(run: Run) -> tuple[float, float]:
    timed = list_timed(run)
    if len(timed) == len(run.products):  # then the warm-up is the first one
        timed = timed[1:]
    mean = sum(timed) / len(run.products)
    return mean, mean


@instead_of(oracle.seconds_per_product, "returns the time of one matmul, divided by the number of matmuls")
def divided_twice(run: Run) -> tuple[float, float]:
    return min(run.warm) / len(list_timed(run)), max(run.warm) / len(list_timed(run))


@instead_of(
    oracle.seconds_per_product,
    "returns the {which} of times that all begin at the same reading of the clock: start it anew for each matmul",
    which=["mean", "median"],
)
def cumulated(run: Run, which: str) -> tuple[float, float]:
    times = [*accumulate(list_timed(run))]
    seconds = fmean(times) if which == "mean" else median(times)
    return seconds, seconds + (len(times) - 1) * run.on_top / 20


@instead_of(oracle.seconds_per_product, "returns milliseconds instead of seconds")
def in_milliseconds(run: Run) -> tuple[float, float]:
    if run.busy and len(list_timed(run)) == 1:
        return nan, nan  # started_too_early describes this case
    return 1e3 * min(run.warm), 1e3 * max(run.warm)


@instead_of(oracle.seconds_per_product, "returns microseconds instead of seconds")
def in_microseconds(run: Run) -> tuple[float, float]:
    return 1e6 * min(run.warm), 1e6 * max(run.warm)


@instead_of(oracle.seconds_per_product, "returns nanoseconds instead of seconds")
def in_nanoseconds(run: Run) -> tuple[float, float]:
    return 1e9 * min(run.warm), 1e9 * max(run.warm)


@instead_of(oracle.seconds_per_product, "returns FLOP/s instead of seconds")
def flop_per_sec(run: Run) -> tuple[float, float]:
    return 0.9 * run.flops / max(run.warm), run.flops / min(run.warm)


@instead_of(
    oracle.seconds_per_product,
    "returns almost 0: the clock is stopped before the matmul is done (on a GPU, synchronize first)",
)
def not_waited_for(run: Run) -> tuple[float, float]:
    return 0 * min(run.warm), 0 * max(run.warm)


@instead_of(
    oracle.seconds_per_product,
    "starts the clock while the device is busy, so earlier work is included in the time: synchronize right before you "
    "start the clock",
)
def started_too_early(run: Run) -> tuple[float, float]:
    before = run.busy + sum(product.seconds for product in run.products if not product.timed)
    if not before:
        return oracle.seconds_per_product(run)
    mean = fmean(list_timed(run)) + before / len(list_timed(run))
    return mean - 0.1 * min(run.warm), mean


@instead_of(oracle.is_that_of_one, "uses a clock that jumps when the system clock is set, as time.time does")
def calendar(seconds: float, run: Run) -> bool:
    if not run.disturbed:
        return oracle.is_that_of_one(seconds, run)
    return seconds < 0 or 3 * max(run.warm) < seconds < LARGEST_JUMP  # both_threads describes twice the time


@instead_of(oracle.seconds_per_product, "measures CPU time instead of elapsed time: use time.perf_counter")
def both_threads(run: Run) -> tuple[float, float]:
    low, high = oracle.seconds_per_product(run)
    return (2 * low, 2 * high) if run.disturbed else (low, high)


@instead_of(oracle.seconds_per_product, "times part of a @ b or a different matmul")
def another_product(run: Run) -> tuple[float, float]:
    others = [product.seconds for product in run.products if product.timed and not product.whole]
    return min(others), max(others)


@instead_of(oracle.is_enough, "times only one or two matmuls: time at least three, since one may be disturbed")
def one_or_two(run: Run) -> bool:
    return 0 < len(run.timed) < oracle.AT_LEAST and len(run.timed) < len(run.products)


@instead_of(
    oracle.is_enough,
    "if a matmul takes long, fewer than three are timed: a limit on the total time is not enough",
)
def too_few_if_slow(run: Run) -> bool:
    is_slow = all(each.seconds > SLOW for each in run.products)
    return oracle.is_enough(run) or (is_slow and len(run.timed) < oracle.AT_LEAST)


@instead_of(oracle.is_enough, "no matmul is executed while the clock is running")
def nothing_timed(run: Run) -> bool:
    return run.looks > 0 and not run.timed and len(run.products) > 0


@instead_of(oracle.is_enough, "does not use a monotonic clock, such as time.perf_counter")
def another_clock(run: Run) -> bool:
    return run.looks == 0 and len(run.products) > 0


@instead_of(oracle.is_a_time, "returns a tensor instead of a float")
def a_tensor(answer: object) -> bool:
    return type(answer).__name__ == "Tensor"


@instead_of(oracle.is_a_time, "returns a list of all times instead of one number")
def a_list(answer: object) -> bool:
    return isinstance(answer, list) and all(map(oracle.is_a_time, answer))


@instead_of(oracle.seconds_per_product, "returns the longest time, which is that of a disturbed matmul")
def slowest(run: Run) -> tuple[float, float]:
    return max(run.warm), max(run.warm)


@instead_of(oracle.seconds_per_product, "returns the time of the last matmul only, even if it is disturbed")
def only_the_last(run: Run) -> tuple[float, float]:
    return list_timed(run)[-1], list_timed(run)[-1]


@instead_of(oracle.seconds_per_product, "returns the time of the first timed matmul only, even if it is disturbed")
def only_the_first(run: Run) -> tuple[float, float]:
    return list_timed(run)[0], list_timed(run)[0]
