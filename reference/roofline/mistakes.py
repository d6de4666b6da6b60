"""Mistakes about the roofline."""

from collections.abc import Callable, Sequence
from math import prod

from reference.roofline import oracle
from torchkata import Mistake, instead_of

READ_ONLY = "the result is not counted among the bytes"
ELEMENTS = "elements are counted in place of bytes"
H100 = "the accelerator's intensity is always that of an H100, 295.4"
TWO_BYTES = "an element takes 2 bytes in every dtype"


@instead_of(oracle.flops_each, "ReLU is counted without FLOPs; to compare an element with 0 is one")
def relu_is_free(operation: str) -> int:
    return 0 if operation == "relu" else oracle.flops_each(operation)


@instead_of(oracle.flops_each, "GELU is counted with one FLOP for each element, as ReLU; it takes 20")
def gelu_like_relu(operation: str) -> int:
    return 1


@instead_of(oracle.elementwise_work, READ_ONLY)
def read_only(n: int, flops_each: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return times * flops_each * n, times * n * itemsize


@instead_of(oracle.elementwise_work, ELEMENTS)
def elements_of_vectors(n: int, flops_each: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return times * flops_each * n, 2 * times * n


@instead_of(oracle.elementwise_work, TWO_BYTES)
def always_two_bytes(n: int, flops_each: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return times * flops_each * n, 4 * times * n


@instead_of(oracle.product_work, TWO_BYTES)
def products_of_two_bytes(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return oracle.product_work(m, k, n, 2, times)


@instead_of(oracle.product_work, READ_ONLY)
def products_read_only(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return 2 * m * k * n, (m * k + k * n) * itemsize


@instead_of(oracle.product_work, "a sum of n products is counted with n - 1 additions; the convention is 2 · n")
def one_addition_less(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return m * n * (2 * k - 1), (m * k + k * n + m * n) * itemsize


@instead_of(oracle.product_work, "only multiplications are counted, not the additions")
def without_additions(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return m * k * n, (m * k + k * n + m * n) * itemsize


@instead_of(oracle.product_work, ELEMENTS)
def elements_of_matrices(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return 2 * m * k * n, m * k + k * n + m * n


@instead_of(oracle.product_work, "the elements are read anew for each multiplication; each is to be counted once")
def read_for_each_product(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return 2 * m * k * n, (2 * m * k * n + m * n) * itemsize


@instead_of(oracle.product_work, "bits are counted in place of bytes")
def bits(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return oracle.product_work(m, k, n, 8 * itemsize, times)


@instead_of(oracle.product_work, "the second input is not counted among the bytes that are read")
def first_read_only(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return 2 * m * k * n, (m * k + m * n) * itemsize


@instead_of(oracle.product_work, "all three matrices are counted as large as the result, as only square ones are")
def square_only(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return 2 * m * k * n, 3 * m * n * itemsize


@instead_of(oracle.product_work, "the FLOPs are a float; a count is an int")
def as_float(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[float, int]:
    flops, moved = oracle.product_work(m, k, n, itemsize, times)
    return float(flops), moved


@instead_of(oracle.work, "dot is taken for a column by a row, with n * n results; it is a row by a column, with one")
def outer_product(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    if operation != "dot":
        return oracle.work(operation, sizes, itemsize, times)
    n = times * sizes[0]
    return 2 * n * n, (n + n + n * n) * itemsize


@instead_of(oracle.work, "only one of dot's two vectors is counted among the bytes")
def one_vector_read(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return flops, moved - times * sizes[0] * itemsize * (operation == "dot")


@instead_of(oracle.work, "of matrix_vector's matrix only one row is counted among the bytes")
def one_row_read(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    if operation != "matrix_vector":
        return oracle.work(operation, sizes, itemsize, times)
    m, n = sizes[0], times * sizes[1]
    return 2 * m * n, (n + n + m) * itemsize


@instead_of(oracle.arithmetic_intensity, "the intensity is rounded down to a whole number")
def whole_intensity(flops: int, moved: int) -> float:
    return flops // moved


@instead_of(oracle.accelerator_intensity, H100)
def always_an_h100(flop_per_sec: float, bytes_per_sec: float) -> float:
    return 295.4


@instead_of(oracle.attainable_mfu, "it is all or nothing; below the accelerator's intensity the MFU falls with it")
def all_or_nothing(intensity: float, accelerator: float) -> float:
    return float(intensity >= accelerator)


@instead_of(oracle.attainable_mfu, "this is in percent, not a share of 1")
def in_percent(intensity: float, accelerator: float) -> float:
    return 100 * oracle.attainable_mfu(intensity, accelerator)


@instead_of(oracle.arithmetic_intensity, "it is upside down: bytes over FLOPs")
def upside_down(flops: int, moved: int) -> float:
    return moved / flops


@instead_of(oracle.accelerator_intensity, "it is upside down: bytes/s over FLOP/s")
def device_upside_down(flop_per_sec: float, bytes_per_sec: float) -> float:
    return bytes_per_sec / flop_per_sec


@instead_of(oracle.attainable_mfu, "a device can't do more than its peak: 1 is the most")
def without_a_roof(intensity: float, accelerator: float) -> float:
    return intensity / accelerator


@instead_of(oracle.attainable_mfu, "it is upside down: accelerator over intensity")
def falling(intensity: float, accelerator: float) -> float:
    return min(1.0, accelerator / intensity)


@instead_of(oracle.bound, "the two words have changed places")
def swapped(intensity: float, accelerator: float) -> str:
    return "compute" if intensity < accelerator else "memory"


@instead_of(oracle.bound, 'the word is "memory-bound"; it should be "memory"')
def in_other_words(intensity: float, accelerator: float) -> str:
    word = oracle.bound(intensity, accelerator)
    return "memory-bound" if word == "memory" else word


@instead_of(oracle.bound, "an intensity of 1 is where the word changes; the accelerator's intensity should be")
def at_one(intensity: float, accelerator: float) -> str:
    return "memory" if intensity < 1 else "compute"


@instead_of(oracle.bound, "everything is called bound by compute")
def always_compute(intensity: float, accelerator: float) -> str:
    return "compute"


@instead_of(oracle.bound, "everything is called bound by memory")
def always_memory(intensity: float, accelerator: float) -> str:
    return "memory"


def another_result(of: str, message: str, elements: Callable[[Sequence[int]], int]) -> Mistake:
    """The result of an operation is counted with another number of elements."""

    def mistaken(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
        """The other operations are counted rightly."""
        flops, moved = oracle.work(operation, sizes, itemsize, times)
        if operation != of:
            return flops, moved
        m, _, n = oracle.sides(operation, sizes)
        inner = 0 if operation == "dot" else 1
        longer = [*sizes[:inner], sizes[inner] * times, *sizes[inner + 1 :]]
        return flops, moved + (elements(longer) - m * n) * itemsize

    return instead_of(oracle.work, message)(mistaken)


dots_result_of_n = another_result(
    "dot", "dot's result is counted with n elements; it is one number", lambda sizes: sizes[0]
)
vector_result_of_n = another_result(
    "matrix_vector", "the result of a matrix and a vector is counted with n elements; it has m", lambda sizes: sizes[1]
)
vector_result_of_a_matrix = another_result(
    "matrix_vector", "the result of a matrix and a vector is counted with m · n elements; it has m", prod
)
matrix_result_as_the_first = another_result(
    "matrix_matrix",
    "the result of two matrices is counted with m · k elements; it has m · n",
    lambda sizes: prod(sizes[:2]),
)
matrix_result_as_the_second = another_result(
    "matrix_matrix",
    "the result of two matrices is counted with k · n elements; it has m · n",
    lambda sizes: prod(sizes[1:]),
)


@instead_of(oracle.bound, H100)
def bound_of_an_h100(intensity: float, accelerator: float) -> str:
    return oracle.bound(intensity, 1979 / 2 / 3.35)
