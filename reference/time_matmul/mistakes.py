"""Mistakes in timing a product."""

from math import nan
from statistics import fmean

from reference.time_matmul import oracle
from reference.time_matmul.oracle import Run
from torchkata import instead_of

WITH_THE_FIRST = "the first product, which warms up, is timed with the others"
JUMPS = 10.0, 1e5  # seconds, by which the calendar is set at least and at most


def timed(run: Run) -> list[float]:
    """The seconds of each a @ b that was timed, the first of its shape, too."""
    return [product.seconds for product in run.products if product.timed and product.whole]


@instead_of(oracle.seconds_per_product, WITH_THE_FIRST)
def with_the_first(run: Run) -> tuple[float, float]:
    if not any(product.cold and product.timed for product in run.products):
        return oracle.seconds_per_product(run)
    mean = fmean(timed(run))
    return mean, mean


@instead_of(oracle.is_enough, WITH_THE_FIRST)
def none_before(run: Run) -> bool:
    return len(run.timed) == len(run.products) > 0


@instead_of(oracle.seconds_per_product, "this is the time of all products together, not of one")
def all_together(run: Run) -> tuple[float, float]:
    total = fmean(timed(run)) * len(timed(run))
    return total, total


@instead_of(
    oracle.seconds_per_product,
    "this is the time of {count:g} products, not of one",
    count=[2, 3, 4, 5, 6, 7, 8, 10, 16, 20, 30, 32, 50, 64, 100],
)
def several_together(run: Run, count: int) -> tuple[float, float]:
    if count == len(timed(run)):
        return nan, nan  # all that were timed have their sentence
    return count * min(run.warm), count * max(run.warm)


@instead_of(
    oracle.seconds_per_product, "the time is divided by all products, those of the warm-up, too, which was not timed"
)
def divided_by_too_many(run: Run) -> tuple[float, float]:
    if all(product.timed for product in run.products):
        return oracle.seconds_per_product(run)
    mean = fmean(timed(run)) * len(timed(run)) / len(run.products)
    return mean, mean


@instead_of(oracle.seconds_per_product, "the time of one product is divided by their number once more")
def divided_twice(run: Run) -> tuple[float, float]:
    return min(run.warm) / len(timed(run)), max(run.warm) / len(timed(run))


@instead_of(oracle.seconds_per_product, "this is in milliseconds, not in seconds")
def in_milliseconds(run: Run) -> tuple[float, float]:
    return 1e3 * min(run.warm), 1e3 * max(run.warm)


@instead_of(oracle.seconds_per_product, "this is in nanoseconds, not in seconds")
def in_nanoseconds(run: Run) -> tuple[float, float]:
    return 1e9 * min(run.warm), 1e9 * max(run.warm)


@instead_of(oracle.seconds_per_product, "these are FLOP/s, not seconds")
def flop_per_sec(run: Run) -> tuple[float, float]:
    return 0.9 * run.flops / max(run.warm), run.flops / min(run.warm)


@instead_of(oracle.seconds_per_product, "the clock is read before the device is done: only the queueing is timed")
def not_waited_for(run: Run) -> tuple[float, float]:
    return 0 * min(run.warm), 0 * max(run.warm)


@instead_of(
    oracle.seconds_per_product,
    "the clock is started while the device still works: what was queued before is timed, too",
)
def started_too_early(run: Run) -> tuple[float, float]:
    before = run.busy + sum(product.seconds for product in run.products if not product.timed)
    if not before:
        return oracle.seconds_per_product(run)
    mean = fmean(timed(run)) + before / len(timed(run))
    return mean - 0.1 * min(run.warm), mean


@instead_of(oracle.is_that_of_one, "the clock follows the calendar, which is set now and then: time.time can jump")
def calendar(seconds: float, run: Run) -> bool:
    least, most = JUMPS
    return least < abs(seconds) < most if run.disturbed else oracle.is_that_of_one(seconds, run)


@instead_of(
    oracle.seconds_per_product,
    "the work of processors is counted, not the time that passes: time.perf_counter tells that",
)
def both_threads(run: Run) -> tuple[float, float]:
    low, high = oracle.seconds_per_product(run)
    return (2 * low, 2 * high) if run.disturbed else (low, high)


@instead_of(oracle.seconds_per_product, "another product than a @ b is timed, or only a part of it")
def another_product(run: Run) -> tuple[float, float]:
    others = [product.seconds for product in run.products if product.timed and not product.whole]
    return min(others), max(others)


@instead_of(oracle.is_enough, "one or two products are timed; three or more are needed, as one may be disturbed")
def one_or_two(run: Run) -> bool:
    return 0 < len(run.timed) < oracle.AT_LEAST and len(run.timed) < len(run.products)


@instead_of(oracle.is_enough, "nothing is multiplied while the clock runs")
def nothing_timed(run: Run) -> bool:
    return run.looks > 0 and not run.timed and len(run.products) > 0


@instead_of(oracle.is_enough, "none of the clocks that never jump is read, such as time.perf_counter")
def another_clock(run: Run) -> bool:
    return run.looks == 0 and len(run.products) > 0


@instead_of(oracle.is_a_time, "the seconds are a tensor, not a float")
def a_tensor(answer: object) -> bool:
    return type(answer).__name__ == "Tensor"


@instead_of(oracle.is_a_time, "all times are returned in a list; one number should tell of all")
def a_list(answer: object) -> bool:
    return isinstance(answer, list) and all(map(oracle.is_a_time, answer))


@instead_of(oracle.seconds_per_product, "this is the slowest of the times, that of a product which was disturbed")
def slowest(run: Run) -> tuple[float, float]:
    return max(run.warm), max(run.warm)
