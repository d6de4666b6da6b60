"""The work of an operation, and which of a device's two speeds decides how long it takes."""

from collections.abc import Sequence
from itertools import product

ELEMENTWISE = {"relu": 1, "gelu": 20}  # FLOPs for each element


def work(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    """FLOPs and bytes of relu, gelu, dot, matrix_vector or matrix_matrix; vectors, or sums, are `times` as long."""
    if operation in ELEMENTWISE:
        return elementwise_work(sizes[0], flops_each(operation), itemsize, times)
    return product_work(*sides(operation, sizes), itemsize, times)


def counted(*numbers: int) -> int:
    """How often one of each kind meets one of each other, of these numbers."""
    return sum(1 for _ in product(*map(range, numbers)))


def flops_each(operation: str) -> int:
    """FLOPs for each element of a function that looks at one at a time."""
    return ELEMENTWISE[operation]


def elementwise_work(n: int, flops_each: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    """FLOPs and bytes of a function of each element: read it, write the result."""
    return times * sum(flops_each for _ in range(n)), times * sum(itemsize for _ in ("read", "write") for _ in range(n))


def sides(operation: str, sizes: Sequence[int]) -> tuple[int, int, int]:
    """m, k and n of the product (m, k) by (k, n) that an operation is; vectors are matrices with a side of 1."""
    m, k, n = {"dot": [1, *sizes, 1], "matrix_vector": [*sizes, 1], "matrix_matrix": sizes}[operation]
    return m, k, n


def product_work(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    """FLOPs and bytes of a product (m, k · times) by (k · times, n): read both, write the result."""
    multiplied = times * counted(m, n, k)
    elements = times * counted(m, k) + times * counted(k, n) + counted(m, n)
    return multiplied + multiplied, elements * itemsize


def arithmetic_intensity(flops: int, moved: int) -> float:
    """FLOPs for each byte of an operation."""
    return flops / moved


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """FLOPs in the time of one byte, on a device."""
    return flop_per_sec / bytes_per_sec


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """The share of the time in which there is arithmetic; to move a byte takes as long as `accelerator` FLOPs."""
    return intensity / max(intensity, accelerator)


def bound(intensity: float, accelerator: float) -> str:
    """Which takes longer: moving the bytes, or the arithmetic."""
    return "memory" if intensity < accelerator else "compute"
