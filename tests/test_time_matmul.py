"""time_matmul: what it times and with which clock, on a machine whose time is pretended."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from reference.time_matmul import oracle
from reference.time_matmul.oracle import Product, Run
from tests.probes import time_matmul as probes
from tests.strategies import costly
from torchkata import Plain, Student, assert_equal, check, precondition, require

SIZES = st.integers(2, 8)  # with a side of 1, einsum makes no product of matrices
SECONDS = st.sampled_from([0.01, 0.5, 0.002, 0.1])  # of a product
THOUSANDFOLD = 1000
FACTS = ("looks", "flops", "busy", "disturbed", "on_top")


def run_of(reply: Plain) -> Run:
    """What happened meanwhile."""
    return Run([Product(**each) for each in reply["products"]], **{fact: reply[fact] for fact in FACTS})


def assert_seconds(reply: Plain, note: str, demand: Callable[..., None] = require) -> None:
    """Demand the seconds of one product, within what launching it and reading the clock take on top."""
    yours, run = reply["seconds"], run_of(reply)
    demand(type(yours) is float, "the seconds should be a float", yours=yours, expected="a float")
    low, high = oracle.seconds_per_product(run)
    none = "no warm a @ b ran after a clock was looked at"
    demand(low <= high, mistake=none, yours=yours, expected="the seconds of one")
    shown = f"{low:.4g} to {high + run.on_top:.4g} seconds: so long does one product take here, once warm"
    check(oracle.is_that_of_one(yours, run), note, yours=yours, expected=shown)


def assert_plain_seconds(student: Student, m: int, k: int, n: int, seconds: float) -> None:
    """Demand the right answer where nothing is out of the ordinary, before something is."""
    reply = student.call(probes.pretended, m, k, n, seconds)
    with precondition("on a CPU that nothing disturbs, already, these are not the seconds of one product"):
        assert_seconds(reply, "")


@costly
@given(SIZES, SIZES, SIZES, SECONDS)
def test_the_seconds_are_those_of_one_product(student: Student, m: int, k: int, n: int, seconds: float) -> None:
    """time_matmul(a, b) returns the seconds of one matrix multiplication."""
    reply = student.call(probes.pretended, m, k, n, seconds)
    note = "time is pretended here: it is what time.perf_counter, time.monotonic and timeit say"
    assert_seconds(reply, note, check)


@costly
@given(SIZES, SIZES, SIZES, SECONDS)
def test_the_first_product_does_not_count(student: Student, m: int, k: int, n: int, seconds: float) -> None:
    """A first matrix multiplication that takes a thousand times as long does not change the answer."""
    assert_plain_seconds(student, m, k, n, seconds)
    reply = student.call(probes.pretended, m, k, n, seconds, THOUSANDFOLD * seconds)
    assert_seconds(reply, "warm up: the first product of a shape takes much longer, and is not to be timed")


@costly
@given(SIZES, SECONDS)
def test_the_clock_never_jumps(student: Student, size: int, seconds: float) -> None:
    """Setting the calendar's clock, or working with two threads, does not change the answer."""
    assert_plain_seconds(student, size, size, size, seconds)
    reply = student.call(probes.pretended, size, size, size, seconds, 0.0, False, 0.0, True)
    note = "time.time follows a calendar that was set in between; time.process_time counts both threads"
    assert_seconds(reply, note)


@costly
@given(SIZES, SIZES, SIZES, SECONDS)
def test_the_device_is_waited_for(student: Student, m: int, k: int, n: int, seconds: float) -> None:
    """On a GPU, where a product is only queued, the clock is read when the product is done."""
    reply = student.call(probes.pretended, m, k, n, seconds, 0.0, True)
    assert_seconds(reply, "a GPU is pretended here: a @ b returns at once; torch.cuda.synchronize() waits for it")


@costly
@given(SIZES, SIZES, SECONDS)
def test_earlier_work_of_the_device_does_not_count(student: Student, m: int, n: int, seconds: float) -> None:
    """On a GPU that is still busy with other work, the clock is started when that is done."""
    reply = student.call(probes.pretended, m, 3, n, seconds, 0.0, True, THOUSANDFOLD * seconds)
    note = "the device had other work when the clock was started: synchronise before, too, after warming up"
    assert_seconds(reply, note)


@costly
@given(SIZES, SECONDS, st.integers(0, 6))
def test_a_disturbed_product_does_not_decide(student: Student, size: int, seconds: float, place: int) -> None:
    """One product in seven takes ten times as long: the answer is the mean, the median or the fastest, not that one."""
    assert_plain_seconds(student, size, size, size, seconds)
    reply = student.call(probes.pretended, size, size, size, seconds, 0.0, False, 0.0, False, place)
    assert_seconds(reply, "one product in seven is disturbed here, and takes ten times as long as the others")


@costly
@given(SIZES, SECONDS, st.booleans())
def test_at_least_three_products_are_timed(student: Student, size: int, seconds: float, on_gpu: bool) -> None:
    """After the warm-up at least three matrix multiplications are timed."""
    reply = student.call(probes.pretended, size, size, size, seconds, 0.0, on_gpu)
    run = run_of(reply)
    timed = len(run.timed)
    note = f"{len(run.products)} products in all, {timed} of them after a clock was first looked at"
    check(oracle.is_enough(run), note, yours=timed, expected=f"{oracle.AT_LEAST} or more, and a warm-up")


def test_it_works_on_this_machine(student: Student) -> None:
    """On this machine the answer is a positive float, and both matrices stay as they were."""
    for m, k, n in ((64, 32, 48), (1, 1, 1)):
        reply = student.call(probes.real, m, k, n)
        check(oracle.is_a_time(reply["seconds"]), "this is no time", yours=reply["seconds"])
        for name in ("a", "b"):
            assert_equal(
                reply["after"][name], reply["before"][name], what=name, mistake=f"something is written into {name}"
            )
