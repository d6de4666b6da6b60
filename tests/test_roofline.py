"""Tests for roofline."""

import math
from dataclasses import dataclass

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import gelu

from reference.roofline import oracle
from tests.meter import Meter, count_operations
from tests.own_answers import holds
from tests.probes import roofline as probes
from torchkata import Plain, Student, Text, assert_count, assert_equal, assert_number, check, precondition, require

sides = oracle.sides  # stored here so that no mistake replaces it
SMALL = st.integers(2, 9) | st.sampled_from([1, 0])  # sizes of 0 and 1 come last, since they show an error less clearly
LONGEST = 2**27  # maximum length of vectors, so that the size of a mistaken outer product still fits in 64 bits
TIMES = st.just(1) | st.integers(2**48, 2**49).map(lambda half: 2 * half + 1)
PRODUCTS = {"dot": 1, "matrix_vector": 2, "matrix_matrix": 3}  # operation → number of sizes
ITEMSIZES = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8, "float8_e4m3fn": 1}
ANY_DTYPE = st.sampled_from(list(ITEMSIZES))
SIXTEEN_BIT = st.sampled_from(["bfloat16", "float16"])
BANDWIDTHS = st.floats(1e11, 1e14)
RATES = st.tuples(st.floats(1e12, 1e16), BANDWIDTHS)
FROM_THE_RIDGE = st.sampled_from([0.5, 2.0, 0.01, 0.9, 0.99, 1.01, 1.1, 100.0])
INTENSITIES = st.floats(1e-2, 1e4)


def products(size: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[str, list[int]]]:
    """Generate a matmul operation and its sizes."""
    each = [
        st.tuples(st.just(operation), st.lists(size, min_size=count, max_size=count))
        for operation, count in PRODUCTS.items()
    ]
    return st.one_of(each)


def assert_work(yours: Plain, flops: int | None, moved: int | None, note: Text | str = "") -> None:
    """Check (FLOPs, bytes), or only one of them if the other is None."""
    check(type(yours) is list and len(yours) == 2, Text("return a tuple (FLOPs, bytes)"), yours=yours)
    names: tuple[Text | str, ...] = ("FLOPs", Text("bytes"))
    for what, each, expected in zip(names, yours, (flops, moved), strict=True):
        if expected is not None:
            assert_count(each, expected, what=what, note=note)


@given(SMALL, ANY_DTYPE, TIMES)
def test_elementwise_work_reads_and_writes_once(student: Student, n: int, dtype: str, times: int) -> None:
    """relu_work and gelu_work are (FLOPs, bytes), exact ints: 1 or 20, and 2 · dtype.itemsize, per element."""
    for operation in ("relu", "gelu"):
        yours = student.call(probes.work, operation, [n * times], dtype)
        assert_work(yours, *oracle.work(operation, [n], ITEMSIZES[dtype], times))


@given(st.lists(SMALL, min_size=3, max_size=3), ANY_DTYPE, TIMES)
def test_products_count_two_flops_per_multiplication(
    student: Student, sizes: list[int], dtype: str, times: int
) -> None:
    """A matmul's work is (FLOPs, bytes), exact ints: 2 per product, dtype.itemsize per element read or written."""
    for operation, count in PRODUCTS.items():
        own, summed = sizes[:count], min(1, count - 1)
        longer = min(times, LONGEST) if count < 2 else times
        scaled = [size * longer if axis == summed else size for axis, size in enumerate(own)]
        yours = student.call(probes.work, operation, scaled, dtype)
        assert_work(yours, *oracle.work(operation, own, ITEMSIZES[dtype], longer))


@given(st.sampled_from(["relu", "gelu", *PRODUCTS]), ANY_DTYPE)
def test_work_is_a_tuple(student: Student, operation: str, dtype: str) -> None:
    """FLOPs and bytes are returned as a tuple, not a list."""
    is_tuple = student.call(probes.gives_a_tuple, operation, [3] * PRODUCTS.get(operation, 1), dtype)
    check(
        is_tuple,
        mistake=Text("{operation} does not return a tuple", operation=f"{operation}_work"),
        expected=Text("a tuple (FLOPs, bytes)"),
    )


@given(st.sampled_from(["relu", "gelu"]), SMALL | st.integers(0, 2**16), SIXTEEN_BIT)
def test_elementwise_bytes_match_torch(student: Student, operation: str, n: int, dtype: str) -> None:
    """The bytes from relu_work and gelu_work equal those counted while torch runs the operation."""
    predicted = student.call(probes.work, operation, [n], dtype)
    x = torch.zeros(n, dtype=getattr(torch, dtype))
    measured = count_operations(lambda: {"relu": torch.relu, "gelu": gelu}[operation](x))
    note = Text("counted: {read} bytes read, as many written", read=n * x.itemsize)
    with precondition():
        assert_work(predicted, None, oracle.work(operation, [n], ITEMSIZES[dtype])[1], note)
    assert_work(predicted, None, measured.bytes, note)


@given(products(SMALL | st.integers(0, 99)), SIXTEEN_BIT)
def test_matmul_work_matches_torch(student: Student, product: tuple[str, list[int]], dtype: str) -> None:
    """For matmuls, FLOPs and bytes equal those counted while torch computes the result."""
    operation, sizes = product
    predicted = student.call(probes.work, operation, sizes, dtype)
    m, k, n = sides(operation, sizes)
    measured = count_product(m, k, n, dtype)
    note = Text(
        "counted: {m} · {n} sums of {k} products; {a} and {b} elements read, {c} written, in {dtype}",
        m=m,
        n=n,
        k=k,
        a=m * k,
        b=k * n,
        c=m * n,
        dtype=dtype,
    )
    with precondition():
        assert_work(predicted, *oracle.work(operation, sizes, ITEMSIZES[dtype]), note)
    assert_work(predicted, measured.flops, measured.bytes, note)


def count_product(m: int, k: int, n: int, dtype: str) -> Meter:
    """Count the FLOPs and bytes while torch multiplies two matrices."""
    a, b = (torch.zeros(shape, dtype=getattr(torch, dtype)) for shape in ((m, k), (k, n)))
    return count_operations(lambda: torch.mm(a, b))


@given(st.integers(1, 2**40), st.integers(1, 2**40), RATES)
def test_intensities_are_flops_per_byte(student: Student, flops: int, moved: int, rates: tuple[float, float]) -> None:
    """Arithmetic intensity is FLOPs / bytes, and accelerator intensity is (FLOP/s) / (bytes/s)."""
    yours = student.call(probes.intensities, flops, moved, *rates)
    assert_number(yours["arithmetic_intensity"], oracle.arithmetic_intensity(flops, moved), what="arithmetic_intensity")
    assert_number(yours["accelerator_intensity"], oracle.accelerator_intensity(*rates), what="accelerator_intensity")


@given(INTENSITIES, INTENSITIES | FROM_THE_RIDGE)
def test_attainable_mfu_is_at_most_one(student: Student, intensity: float, distance: float) -> None:
    """attainable_mfu is intensity / accelerator, but at most 1."""
    accelerator = intensity * distance
    yours = student.call("roofline.attainable_mfu", intensity, accelerator)
    assert_number(yours, oracle.attainable_mfu(intensity, accelerator), what="MFU")


@dataclass(frozen=True)
class OnDevice:
    """A matmul operation, and the FLOP/s and bytes/s of a device."""

    operation: str
    sizes: list[int]
    peak: float
    bandwidth: float


@st.composite
def near_the_ridge(draw: st.DrawFn) -> OnDevice:
    """Generate an operation, and a device whose intensity is close to the operation's but different."""
    operation, sizes = draw(products(st.integers(2, 9)))
    flops, moved = oracle.work(operation, sizes, 2)
    bandwidth = draw(BANDWIDTHS)
    return OnDevice(operation, sizes, draw(FROM_THE_RIDGE) * bandwidth * flops / moved, bandwidth)


def read_work(yours: Plain, case: OnDevice) -> tuple[float, float]:
    """Return the FLOPs and bytes of an operation, or the student's numbers if these are wrong."""
    exact = oracle.work(case.operation, case.sizes, 2)
    if holds(assert_work, yours, *exact):
        return exact
    is_pair = (
        type(yours) is list and len(yours) == 2 and all(type(n) in (int, float) and 0 < n < math.inf for n in yours)
    )
    require(is_pair, Text("the work of the operation is not two positive numbers"), yours=yours)
    return yours[0], yours[1]


def read_intensity(yours: Plain, exact: float) -> float:
    """Return an intensity, or the student's number if this is wrong."""
    require(type(yours) in (int, float), Text("an intensity is not a number"), yours=yours)
    return exact if holds(assert_number, yours, exact) else yours


@given(near_the_ridge())
def test_bound_is_the_slower_of_memory_and_compute(student: Student, case: OnDevice) -> None:
    """bound returns "memory" if moving the bytes takes longer than the arithmetic, otherwise "compute"."""
    flops, moved = read_work(student.call(probes.work, case.operation, case.sizes, "bfloat16"), case)
    reply = student.call(probes.predict_bound, case.operation, case.sizes, "bfloat16", case.peak, case.bandwidth)
    intensity = read_intensity(reply["intensity"], oracle.arithmetic_intensity(flops, moved))
    accelerator = read_intensity(reply["accelerator"], oracle.accelerator_intensity(case.peak, case.bandwidth))
    if math.isclose(intensity, accelerator, rel_tol=1e-3):
        return  # the student's own FLOPs, bytes or intensities are wrong, which other tests report
    times = Text(
        "{times} ns of arithmetic, {moving} ns of moving bytes",
        times=f"{1000000000.0 * flops / case.peak:.3g}",
        moving=f"{1000000000.0 * moved / case.bandwidth:.3g}",
    )
    assert_equal(reply["bound"], oracle.bound(intensity, accelerator), what="bound", note=times)
