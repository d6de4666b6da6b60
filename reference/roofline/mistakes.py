"""Common mistakes in roofline."""

from collections.abc import Callable, Sequence
from math import prod

from reference.roofline import oracle
from torchkata import Mistake, instead_of

OPERATIONS = ["relu", "gelu", "dot", "matrix_vector", "matrix_matrix"]
ELEMENTS = "counts elements instead of bytes"
H100 = "always uses the accelerator intensity of an H100, 295.4"
ONE_SIZE = "assumes {size} bytes per element for every dtype"


@instead_of(oracle.count_flops_each, "counts no FLOPs for ReLU: comparing an element with 0 takes one FLOP")
def relu_is_free(operation: str) -> int:
    return 0 if operation == "relu" else oracle.count_flops_each(operation)


@instead_of(oracle.count_flops_each, "counts one FLOP per element for GELU, as for ReLU: GELU takes 20")
def gelu_like_relu(operation: str) -> int:
    return 1


@instead_of(
    oracle.elementwise_work,
    "counts n elements instead of 2 · n for an elementwise function: each is read and written once",
)
def read_only(n: int, flops_each: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return times * flops_each * n, times * n * itemsize


@instead_of(oracle.elementwise_work, ELEMENTS)
def elements_of_vectors(n: int, flops_each: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return times * flops_each * n, 2 * times * n


@instead_of(oracle.elementwise_work, ONE_SIZE, size=[2, 4])
def one_size(n: int, flops_each: int, itemsize: int, times: int = 1, *, size: int) -> tuple[int, int]:
    return times * flops_each * n, 2 * size * times * n


@instead_of(oracle.product_work, ONE_SIZE, size=[2, 4])
def products_of_one_size(m: int, k: int, n: int, itemsize: int, times: int = 1, *, size: int) -> tuple[int, int]:
    return oracle.product_work(m, k, n, size, times)


@instead_of(oracle.work, "{only}_work " + ONE_SIZE, only=OPERATIONS, size=[2, 4])
def one_of_one_size(
    operation: str, sizes: Sequence[int], itemsize: int, times: int = 1, *, only: str, size: int
) -> tuple[int, int]:
    return oracle.work(operation, sizes, size if operation == only else itemsize, times)


@instead_of(
    oracle.work,
    "counts {other} bytes per element of every dtype except those of 2 and 4 bytes: use dtype.itemsize",
    other=[4, 2],
)
def two_or_four_bytes(
    operation: str, sizes: Sequence[int], itemsize: int, times: int = 1, *, other: int
) -> tuple[int, int]:
    return oracle.work(operation, sizes, itemsize if itemsize in (2, 4) else other, times)


def count_product(message: str, count: Callable[[int, int, int], tuple[int, int]]) -> Mistake:
    """Return a mistake that uses the given function to compute a product's (FLOPs, elements) from its dimensions."""

    def mistaken(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
        """Convert the number of elements to bytes."""
        flops, elements = count(m, times * k, n)
        return flops, elements * itemsize

    return instead_of(oracle.product_work, message)(mistaken)


products_read_only = count_product("omits the bytes of the result", lambda m, k, n: (2 * m * k * n, m * k + k * n))
one_addition_less = count_product(
    "counts n - 1 additions for a sum of n products: the convention is 2 · n FLOPs",
    lambda m, k, n: (m * n * (2 * k - 1), m * k + k * n + m * n),
)
without_additions = count_product(
    "counts n FLOPs for a sum of n products instead of 2 · n", lambda m, k, n: (m * k * n, m * k + k * n + m * n)
)
read_for_each_product = count_product(
    "counts two reads per multiplication: each element is read only once",
    lambda m, k, n: (2 * m * k * n, 2 * m * k * n + m * n),
)
first_read_only = count_product("omits the bytes of the second input", lambda m, k, n: (2 * m * k * n, m * k + m * n))
result_read_too = count_product(
    "counts the result twice: it is only written, not read", lambda m, k, n: (2 * m * k * n, m * k + k * n + 2 * m * n)
)
square_only = count_product(
    "assumes that all three matrices have the size of the result, which is correct only if they are square",
    lambda m, k, n: (2 * m * k * n, 3 * m * n),
)


@instead_of(oracle.product_work, ELEMENTS)
def elements_of_matrices(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    k = times * k
    return 2 * m * k * n, m * k + k * n + m * n


@instead_of(oracle.product_work, "counts 4 bytes per element of the result, whatever dtype is")
def result_in_float32(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    flops, moved = oracle.product_work(m, k, n, itemsize, times)
    return flops, moved + m * n * (4 - itemsize)


@instead_of(oracle.product_work, "counts bits instead of bytes")
def bits(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    return oracle.product_work(m, k, n, 8 * itemsize, times)


@instead_of(oracle.product_work, "returns the FLOPs as a float instead of an int")
def as_float(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[float, int]:
    flops, moved = oracle.product_work(m, k, n, itemsize, times)
    return float(flops), moved


@instead_of(oracle.work, "{only}_work counts the FLOPs of only one element", only=["relu", "gelu"])
def flops_of_one_element(
    operation: str, sizes: Sequence[int], itemsize: int, times: int = 1, *, only: str
) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return oracle.count_flops_each(operation) if operation == only else flops, moved


@instead_of(oracle.work, "returns (bytes, FLOPs) instead of (FLOPs, bytes)")
def bytes_first(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return moved, flops


@instead_of(oracle.work, "dot_work counts the work of an outer product, with n · n results: a dot product has one")
def outer_product(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    if operation != "dot":
        return oracle.work(operation, sizes, itemsize, times)
    n = times * sizes[0]
    return 2 * n * n, (n + n + n * n) * itemsize


@instead_of(
    oracle.work,
    "{only}_work counts a FLOP per multiplication instead of two: adding to the sum is the other",
    only=["dot", "matrix_vector", "matrix_matrix"],
)
def one_without_additions(
    operation: str, sizes: Sequence[int], itemsize: int, times: int = 1, *, only: str
) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return flops // 2 if operation == only else flops, moved


@instead_of(oracle.work, "dot_work counts n - 1 additions for a sum of n products: the convention is 2 · n FLOPs")
def one_addition_less_in_dot(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return flops - (operation == "dot"), moved


@instead_of(oracle.work, "matrix_vector_work omits the bytes of the vector")
def no_vector_read(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return flops, moved - (operation == "matrix_vector") * times * sizes[-1] * itemsize


@instead_of(oracle.work, "dot_work counts the bytes of only one of the two vectors")
def one_vector_read(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return flops, moved - times * sizes[0] * itemsize * (operation == "dot")


@instead_of(oracle.work, "matrix_vector_work counts the vector anew for each row: it is read only once")
def vector_read_for_each_row(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    flops, moved = oracle.work(operation, sizes, itemsize, times)
    return flops, moved + (operation == "matrix_vector") * (sizes[0] - 1) * times * sizes[-1] * itemsize


@instead_of(oracle.work, "matrix_vector_work counts the bytes of only one row of the matrix")
def one_row_read(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    if operation != "matrix_vector":
        return oracle.work(operation, sizes, itemsize, times)
    m, n = sizes[0], times * sizes[1]
    return 2 * m * n, (n + n + m) * itemsize


@instead_of(oracle.arithmetic_intensity, "rounds the intensity down to a whole number")
def whole_intensity(flops: int, moved: int) -> float:
    return flops // moved


@instead_of(oracle.accelerator_intensity, H100)
def always_an_h100(flop_per_sec: float, bytes_per_sec: float) -> float:
    return 295.4


@instead_of(
    oracle.attainable_mfu, "returns only 0 or 1: below the accelerator's intensity, the MFU is intensity / accelerator"
)
def all_or_nothing(intensity: float, accelerator: float) -> float:
    return float(intensity >= accelerator)


@instead_of(oracle.attainable_mfu, "returns a percentage instead of a fraction")
def in_percent(intensity: float, accelerator: float) -> float:
    return 100 * oracle.attainable_mfu(intensity, accelerator)


@instead_of(oracle.arithmetic_intensity, "returns bytes / FLOPs instead of FLOPs / bytes")
def upside_down(flops: int, moved: int) -> float:
    return moved / flops


@instead_of(oracle.accelerator_intensity, "returns bytes/s over FLOP/s instead of FLOP/s over bytes/s")
def device_upside_down(flop_per_sec: float, bytes_per_sec: float) -> float:
    return bytes_per_sec / flop_per_sec


@instead_of(oracle.attainable_mfu, "returns more than 1, but a device cannot exceed its peak")
def without_a_roof(intensity: float, accelerator: float) -> float:
    return intensity / accelerator


@instead_of(oracle.attainable_mfu, "returns at least 1 instead of at most 1, as max does in place of min")
def at_least_one(intensity: float, accelerator: float) -> float:
    return max(1.0, intensity / accelerator)


@instead_of(oracle.attainable_mfu, "returns accelerator / intensity instead of intensity / accelerator")
def falling(intensity: float, accelerator: float) -> float:
    return min(1.0, accelerator / intensity)


@instead_of(oracle.bound, 'swaps "memory" and "compute"')
def swapped(intensity: float, accelerator: float) -> str:
    return "compute" if intensity < accelerator else "memory"


@instead_of(oracle.bound, 'returns "memory-bound" instead of "memory"')
def in_other_words(intensity: float, accelerator: float) -> str:
    word = oracle.bound(intensity, accelerator)
    return "memory-bound" if word == "memory" else word


@instead_of(oracle.bound, "compares the intensity with 1 instead of with the accelerator's intensity")
def at_one(intensity: float, accelerator: float) -> str:
    return "memory" if intensity < 1 else "compute"


@instead_of(oracle.bound, 'always returns "compute"')
def always_compute(intensity: float, accelerator: float) -> str:
    return "compute"


@instead_of(oracle.bound, 'always returns "memory"')
def always_memory(intensity: float, accelerator: float) -> str:
    return "memory"


def count_result_as(of: str, message: str, elements: Callable[[Sequence[int]], int]) -> Mistake:
    """Return a mistake that counts the wrong number of output elements for one operation."""

    def mistaken(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
        """Count incorrectly for the given operation, and correctly for all others."""
        flops, moved = oracle.work(operation, sizes, itemsize, times)
        if operation != of:
            return flops, moved
        m, _, n = oracle.sides(operation, sizes)
        inner = 0 if operation == "dot" else 1
        longer = [*sizes[:inner], sizes[inner] * times, *sizes[inner + 1 :]]
        return flops, moved + (elements(longer) - m * n) * itemsize

    return instead_of(oracle.work, message)(mistaken)


dots_result_of_n = count_result_as(
    "dot", "dot_work counts n elements for the result, which is one number", lambda sizes: sizes[0]
)
dot_without_result = count_result_as("dot", "dot_work omits the bytes of the result", lambda sizes: 0)
vector_without_result = count_result_as(
    "matrix_vector", "matrix_vector_work omits the bytes of the result", lambda sizes: 0
)
vector_result_of_n = count_result_as(
    "matrix_vector", "matrix_vector_work counts n elements for the result, which has m", lambda sizes: sizes[1]
)
vector_result_of_a_matrix = count_result_as(
    "matrix_vector", "matrix_vector_work counts m · n elements for the result, which has m", prod
)
matrix_result_as_the_first = count_result_as(
    "matrix_matrix",
    "matrix_matrix_work counts m · k elements for the result, which has m · n",
    lambda sizes: prod(sizes[:2]),
)
matrix_result_as_the_second = count_result_as(
    "matrix_matrix",
    "matrix_matrix_work counts k · n elements for the result, which has m · n",
    lambda sizes: prod(sizes[1:]),
)


@instead_of(oracle.bound, H100)
def bound_of_an_h100(intensity: float, accelerator: float) -> str:
    return oracle.bound(intensity, 1979 / 2 / 3.35)
