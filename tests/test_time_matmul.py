"""Tests for time_matmul on a simulated machine with its own clocks."""

import math
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.time_matmul import oracle
from reference.time_matmul.oracle import Product, Run
from tests.probes import time_matmul as probes
from tests.strategies import costly
from torchkata import Plain, Student, Text, assert_equal, check, require

SIZES = st.integers(2, 8)  # if a dimension is 1, einsum does not call a matrix multiplication
SECONDS = st.sampled_from([0.01, 0.5, 0.002, 0.1])  # seconds of a product
THOUSANDFOLD = 1000
right_range = oracle.seconds_per_product  # stored here so that no mistake replaces it
TOLERANCE = 0.1
FACTS = ("looks", "flops", "busy", "disturbed", "on_top")


def read_run(reply: Plain) -> Run:
    """Convert the reply of the probe to the input of the oracle."""
    return Run([Product(**each) for each in reply["products"]], **{fact: reply[fact] for fact in FACTS})


def read_seconds(reply: Plain) -> Plain:
    """Return the answer. Convert a tensor of one element to a float, because another test checks the type."""
    yours = reply["seconds"]
    return float(yours) if isinstance(yours, Tensor) and yours.numel() == 1 else yours


def assert_seconds(
    yours: Plain, run: Run, note: Text | str, demand: Callable[..., None] = require, factor: float = 1
) -> None:
    """Check that the answer is the time of one matmul times `factor`, with a tolerance for launches and clock reads."""
    demand(type(yours) is float, Text("return a float"), yours=yours, expected=Text("a float"))
    low, high = oracle.seconds_per_product(run)
    none = Text("no a @ b ran after the warm-up and the first reading of a clock")
    demand(low <= high, mistake=none, yours=yours, expected=Text("the seconds of one"))
    shown = Text("{low} to {high} seconds", low=f"{factor * low:.4g}", high=f"{factor * (high + run.on_top):.4g}")
    expected = Text("{shown}, the time of one matmul here after the warm-up", shown=shown)
    expected = expected if factor == 1 else Text("{shown}, as on an undisturbed CPU", shown=shown)
    is_right = oracle.is_that_of_one(yours, run) if factor == 1 else is_alike(yours / factor, low, high + run.on_top)
    check(is_right, note, yours=Text("{seconds} seconds", seconds=f"{yours:.7g}"), expected=expected)


def is_alike(seconds: float, low: float, high: float) -> bool:
    """Return whether a time is in a range, with a tolerance for products that differ."""
    return (1 - TOLERANCE) * low <= seconds <= (1 + TOLERANCE) * high


def find_factor(student: Student, m: int, k: int, n: int, seconds: float, *, on_gpu: bool = False) -> float:
    """Return the answer on an undisturbed CPU as a multiple of the correct one, or 1 if it is correct.

    A wrong unit or a forgotten division then fails only the test of the result.
    """
    reply = student.call(probes.simulate, m, k, n, seconds)
    yours, run = read_seconds(reply), read_run(reply)
    low, high = right_range(run)
    if type(yours) is float and 0.999999 * low <= yours <= 1.000001 * high + run.on_top:
        if not on_gpu:  # a known mistake that changes this result does not explain another one
            assert_seconds(yours, run, "")
        return 1
    is_time = type(yours) is float and 0 < yours < math.inf and low <= high
    require(is_time, Text("the result is not a time, even on an undisturbed CPU"), yours=reply["seconds"])
    return float(yours) / ((low + high) / 2)


def check_device_comparison(
    student: Student, yours: Plain, run: Run, sizes: tuple[int, int, int, float], options: dict[str, Plain]
) -> None:
    """Check that the code does not wait only for tensors whose device equals torch.device("cuda"), without a number."""
    low, high = right_range(run)
    if not (type(yours) is float and yours < low / 2):
        return
    other = student.call(probes.simulate, *sizes, options | {"numbered": False})
    is_right = type(other["seconds"]) is float and is_alike(other["seconds"], low, high + run.on_top)
    student.call(probes.simulate, *sizes, options)  # the last call is the input that a failure shows
    unequal = Text(
        "the GPU is waited for only if the device equals torch.device('cuda'), but a.device is cuda:0: compare "
        "a.device.type with 'cuda'"
    )
    shown = Text("{seconds} seconds", seconds=f"{yours:.7g}")
    check(not is_right, mistake=unequal, yours=shown, expected=Text("the time of one matmul"))


@costly
@given(SIZES, SIZES, SIZES, SECONDS)
def test_result_is_seconds_of_one_matmul(student: Student, m: int, k: int, n: int, seconds: float) -> None:
    """time_matmul(a, b) returns the time of one a @ b after a warm-up, in seconds, as a float."""
    reply = student.call(probes.simulate, m, k, n, seconds)
    run = read_run(reply)
    unknown = Text("the time is simulated: use time.perf_counter, time.monotonic or timeit")
    assert_seconds(reply["seconds"], run, "" if run.looks else unknown, check)


@costly
@given(SIZES, SIZES, SIZES, SECONDS)
def test_first_matmul_is_not_timed(student: Student, m: int, k: int, n: int, seconds: float) -> None:
    """If the first multiplication takes a thousand times as long, the result does not change."""
    factor = find_factor(student, m, k, n, seconds)
    reply = student.call(probes.simulate, m, k, n, seconds, {"first_takes_more": THOUSANDFOLD * seconds})
    assert_seconds(
        read_seconds(reply),
        read_run(reply),
        Text("warm up: the first matmul of a shape takes much longer and must not be timed"),
        factor=factor,
    )


@costly
@given(SIZES, SECONDS)
def test_clock_is_monotonic(student: Student, size: int, seconds: float) -> None:
    """The result does not change when the system clock is set or a second thread is busy."""
    factor = find_factor(student, size, size, size, seconds)
    reply = student.call(probes.simulate, size, size, size, seconds, {"calendar_is_set": True})
    note = Text("the system clock, time.time, was set meanwhile; time.process_time counts both threads")
    assert_seconds(read_seconds(reply), read_run(reply), note, factor=factor)


@costly
@given(SIZES, SIZES, SIZES, SECONDS)
def test_device_is_synchronized_after_matmul(student: Student, m: int, k: int, n: int, seconds: float) -> None:
    """A GPU only queues a matmul, so the clock starts and stops when all queued matmuls have finished."""
    factor = find_factor(student, m, k, n, seconds, on_gpu=True)
    reply = student.call(probes.simulate, m, k, n, seconds, {"on_gpu": True})
    yours, run = read_seconds(reply), read_run(reply)
    if type(yours) is float and yours > (1 + TOLERANCE) * factor * (right_range(run)[1] + run.on_top):
        check(yours > 0)  # it includes earlier work, which is the subject of the next test
        return
    check_device_comparison(student, yours, run, (m, k, n, seconds), {"on_gpu": True})
    assert_seconds(
        yours,
        run,
        Text("on this simulated GPU a @ b returns at once, and torch.cuda.synchronize() waits for it"),
        factor=factor,
    )


@costly
@given(SIZES, SIZES, SECONDS)
def test_device_is_synchronized_before_timing(student: Student, m: int, n: int, seconds: float) -> None:
    """On a GPU, the result includes all of the timed work, but no earlier work, such as the warm-up."""
    factor = find_factor(student, m, 3, n, seconds, on_gpu=True)
    options = {"on_gpu": True, "busy_seconds": THOUSANDFOLD * seconds}
    reply = student.call(probes.simulate, m, 3, n, seconds, options)
    note: Text | str = Text(
        "the device was still busy when the clock started: synchronize after warming up, before you start the clock"
    )
    yours, run = read_seconds(reply), read_run(reply)
    if type(yours) is float and yours < factor * right_range(run)[0]:
        note = ""  # the clock is stopped too early
    check_device_comparison(student, yours, run, (m, 3, n, seconds), options)
    assert_seconds(yours, run, note, factor=factor)


@costly
@given(SIZES, SECONDS, st.integers(0, 6))
def test_slow_matmul_does_not_determine_result(student: Student, size: int, seconds: float, place: int) -> None:
    """The result is the mean, median or minimum of three or more matmuls, even if one in seven is ten times slower."""
    factor = find_factor(student, size, size, size, seconds)
    reply = student.call(probes.simulate, size, size, size, seconds, {"disturbed": place})
    assert_seconds(
        read_seconds(reply),
        read_run(reply),
        Text("one matmul in seven takes ten times as long as the others here"),
        factor=factor,
    )


@costly
@given(SIZES, SECONDS, st.booleans())
def test_at_least_three_matmuls_are_timed(student: Student, size: int, seconds: float, on_gpu: bool) -> None:
    """At least one multiplication warms up, and at least three further ones are timed."""
    reply = student.call(probes.simulate, size, size, size, seconds, {"on_gpu": on_gpu})
    run = read_run(reply)
    counts = {"all": len(run.products), "timed": len(run.timed), "seconds": seconds}
    note = Text(
        "each matmul takes about {seconds} seconds here; {all} matmuls in total, {timed} of them after the first "
        "reading of a clock",
        **counts,
    )
    yours = Text("timed matmuls: {count}", count=len(run.timed))
    expected = Text("timed matmuls: {count} or more, after a warm-up", count=oracle.AT_LEAST)
    check(oracle.is_enough(run), note, yours=yours, expected=expected)


def test_runs_on_the_current_machine(student: Student) -> None:
    """On this machine, the result is a positive float, and neither matrix is modified."""
    for m, k, n in ((64, 32, 48), (1, 1, 1)):
        reply = student.call(probes.run_here, m, k, n)
        zero = Text("the result is 0, but every matmul takes time: is it rounded?") if reply["seconds"] == 0 else ""
        is_time = oracle.is_a_time(reply["seconds"])
        check(is_time, Text("return a positive float"), mistake=zero, yours=reply["seconds"])
        for name in ("a", "b"):
            assert_equal(
                reply["after"][name], reply["before"][name], what=name, mistake=Text("{name} is modified", name=name)
            )
