"""Roofline: what operations ask of a device, what devices offer, and which of the two limits decides."""

from dataclasses import dataclass

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import gelu

from reference.roofline import oracle
from tests.meter import Meter, count_operations
from tests.probes import roofline as probes
from torchkata import Plain, Student, assert_count, assert_equal, assert_number, check

sides = oracle.sides  # of what is measured; no mistake takes its place
SMALL = st.integers(2, 9) | st.sampled_from([1, 0])  # simplest first: what is off shows best where no size is 0 or 1
LONGEST = 2**27  # of vectors: the outer product that a dot product may be taken for is to be counted in 64 bits
TIMES = st.just(1) | st.integers(2**48, 2**49).map(lambda half: 2 * half + 1)
PRODUCTS = {"dot": 1, "matrix_vector": 2, "matrix_matrix": 3}  # and how many sizes each has
ITEMSIZES = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8, "float8_e4m3fn": 1}
ANY_DTYPE = st.sampled_from(list(ITEMSIZES))
MULTIPLIED = st.sampled_from(["float32", "bfloat16", "float16", "float64"])
BANDWIDTHS = st.floats(1e11, 1e14)
RATES = st.tuples(st.floats(1e12, 1e16), BANDWIDTHS)
FROM_THE_RIDGE = st.sampled_from([0.5, 2.0, 0.01, 0.9, 0.99, 1.01, 1.1, 100.0])
INTENSITIES = st.floats(1e-2, 1e4)


def products(size: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[str, list[int]]]:
    """A product and its sizes."""
    each = [
        st.tuples(st.just(operation), st.lists(size, min_size=count, max_size=count))
        for operation, count in PRODUCTS.items()
    ]
    return st.one_of(each)


def assert_work(yours: Plain, flops: int | None, moved: int | None, note: str = "") -> None:
    """Demand (FLOPs, bytes), or one of the two."""
    check(type(yours) is list and len(yours) == 2, "this should be (FLOPs, bytes)", yours=yours)
    for what, each, expected in zip(("FLOPs", "bytes"), yours, (flops, moved), strict=True):
        if expected is not None:
            assert_count(each, expected, what=what, note=note)


@given(st.sampled_from(["relu", "gelu"]), SMALL, ANY_DTYPE, TIMES)
def test_elementwise_work_is_read_once_and_written_once(
    student: Student, operation: str, n: int, dtype: str, times: int
) -> None:
    """relu_work and gelu_work are 1 and 20 FLOPs an element, read once and written once."""
    yours = student.call(probes.work, operation, [n * times], dtype)
    assert_work(yours, *oracle.work(operation, [n], ITEMSIZES[dtype], times))


@given(st.lists(SMALL, min_size=3, max_size=3), ANY_DTYPE, TIMES)
def test_products_take_two_flops_for_each_multiplication(
    student: Student, sizes: list[int], dtype: str, times: int
) -> None:
    """dot_work, matrix_vector_work and matrix_matrix_work: 2 FLOPs a multiplication; both read, the result written."""
    for operation, count in PRODUCTS.items():
        own, summed = sizes[:count], min(1, count - 1)
        longer = min(times, LONGEST) if count < 2 else times
        asked = [size * longer if axis == summed else size for axis, size in enumerate(own)]
        yours = student.call(probes.work, operation, asked, dtype)
        assert_work(yours, *oracle.work(operation, own, ITEMSIZES[dtype], longer))


@given(st.sampled_from(["relu", "gelu", *PRODUCTS]), ANY_DTYPE)
def test_work_is_a_tuple(student: Student, operation: str, dtype: str) -> None:
    """FLOPs and bytes come as a tuple: a list is not equal to one."""
    is_tuple = student.call(probes.gives_a_tuple, operation, [3] * PRODUCTS.get(operation, 1), dtype)
    check(is_tuple, mistake=f"{operation}_work gives no tuple", expected="a tuple (FLOPs, bytes)")


@given(st.sampled_from(["relu", "gelu"]), SMALL | st.integers(0, 2**16), MULTIPLIED)
def test_torch_moves_the_bytes_that_are_predicted(student: Student, operation: str, n: int, dtype: str) -> None:
    """torch's relu and gelu read and write as many bytes as relu_work and gelu_work predict."""
    predicted = student.call(probes.work, operation, [n], dtype)
    x = torch.zeros(n, dtype=getattr(torch, dtype))
    measured = count_operations(lambda: {"relu": torch.relu, "gelu": gelu}[operation](x))
    assert_work(predicted, None, measured.bytes, f"counted: {n * x.itemsize} bytes read, as many written")


@given(products(SMALL | st.integers(0, 99)), MULTIPLIED)
def test_torch_does_the_products_that_are_predicted(
    student: Student, product: tuple[str, list[int]], dtype: str
) -> None:
    """torch's matrix multiplications take as many FLOPs, and move as many bytes, as predicted."""
    operation, sizes = product
    predicted = student.call(probes.work, operation, sizes, dtype)
    m, k, n = sides(operation, sizes)
    measured = measured_product(m, k, n, dtype)
    note = f"counted: {m} · {n} sums of {k} products; {m * k} and {k * n} elements read, {m * n} written, in {dtype}"
    assert_work(predicted, measured.flops, measured.bytes, note)


def measured_product(m: int, k: int, n: int, dtype: str) -> Meter:
    """What torch does for a product of matrices."""
    a, b = (torch.zeros(shape, dtype=getattr(torch, dtype)) for shape in ((m, k), (k, n)))
    return count_operations(lambda: torch.mm(a, b))


@given(st.integers(1, 2**40), st.integers(1, 2**40), RATES)
def test_intensities_are_flops_for_each_byte(
    student: Student, flops: int, moved: int, rates: tuple[float, float]
) -> None:
    """Arithmetic intensity is FLOPs over bytes, accelerator intensity FLOP/s over bytes/s."""
    yours = student.call(probes.intensities, flops, moved, *rates)
    assert_number(yours["arithmetic_intensity"], oracle.arithmetic_intensity(flops, moved), what="arithmetic_intensity")
    assert_number(yours["accelerator_intensity"], oracle.accelerator_intensity(*rates), what="accelerator_intensity")


@given(INTENSITIES, INTENSITIES | FROM_THE_RIDGE)
def test_the_roof_is_one(student: Student, intensity: float, distance: float) -> None:
    """attainable_mfu rises with the intensity of the operation up to that of the accelerator, where it is 1."""
    accelerator = intensity * distance
    yours = student.call(probes.attainable, intensity, accelerator)
    assert_number(yours, oracle.attainable_mfu(intensity, accelerator), what="MFU")


@dataclass(frozen=True)
class OnDevice:
    """A product, and what the device does in a second."""

    operation: str
    sizes: list[int]
    peak: float
    bandwidth: float


@st.composite
def near_the_ridge(draw: st.DrawFn) -> OnDevice:
    """A device whose intensity is not far from the product's, and not the same."""
    operation, sizes = draw(products(st.integers(2, 9)))
    flops, moved = oracle.work(operation, sizes, 2)
    bandwidth = draw(BANDWIDTHS)
    return OnDevice(operation, sizes, draw(FROM_THE_RIDGE) * bandwidth * flops / moved, bandwidth)


@given(near_the_ridge())
def test_the_bound_is_what_takes_longer(student: Student, case: OnDevice) -> None:
    """Memory-bound is what takes longer to move its bytes than for its arithmetic, compute-bound what does not."""
    flops, moved = oracle.work(case.operation, case.sizes, 2)
    intensity = oracle.arithmetic_intensity(flops, moved)
    accelerator = oracle.accelerator_intensity(case.peak, case.bandwidth)
    yours = student.call(probes.predicted, case.operation, case.sizes, "bfloat16", case.peak, case.bandwidth)
    times = f"{1e9 * flops / case.peak:.3g} ns of arithmetic, {1e9 * moved / case.bandwidth:.3g} ns of moving bytes"
    assert_equal(yours, oracle.bound(intensity, accelerator), what="bound", note=times)
