"""Oracle for roofline that counts FLOPs and bytes one by one."""

from collections.abc import Sequence
from itertools import product

ELEMENTWISE = {"relu": 1, "gelu": 20}  # FLOPs per element


def work(operation: str, sizes: Sequence[int], itemsize: int, times: int = 1) -> tuple[int, int]:
    """Return an operation's FLOPs and bytes if its vectors or sums are `times` times as long as in `sizes`."""
    if operation in ELEMENTWISE:
        return elementwise_work(sizes[0], count_flops_each(operation), itemsize, times)
    return product_work(*sides(operation, sizes), itemsize, times)


def count(*numbers: int) -> int:
    """Count the combinations of indices below the given limits."""
    return sum(1 for _ in product(*map(range, numbers)))


def count_flops_each(operation: str) -> int:
    """Return the FLOPs per element of an elementwise function."""
    return ELEMENTWISE[operation]


def elementwise_work(n: int, flops_each: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    """Return the FLOPs and bytes of an elementwise function: one read and one write per element."""
    return times * sum(flops_each for _ in range(n)), times * sum(itemsize for _ in ("read", "write") for _ in range(n))


def sides(operation: str, sizes: Sequence[int]) -> tuple[int, int, int]:
    """Return m, k and n of the equivalent product of two matrices. A vector is a matrix with a dimension of size 1."""
    m, k, n = {"dot": [1, *sizes, 1], "matrix_vector": [*sizes, 1], "matrix_matrix": sizes}[operation]
    return m, k, n


def product_work(m: int, k: int, n: int, itemsize: int, times: int = 1) -> tuple[int, int]:
    """Return the FLOPs and bytes of the product of an (m, k · times) matrix and a (k · times, n) matrix."""
    multiplied = times * count(m, n, k)
    elements = times * count(m, k) + times * count(k, n) + count(m, n)
    return multiplied + multiplied, elements * itemsize


def arithmetic_intensity(flops: float, moved: float) -> float:
    """Return the FLOPs per byte of an operation."""
    return flops / moved


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """Return the FLOPs that a device can perform in the time it takes to move one byte."""
    return flop_per_sec / bytes_per_sec


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """Return the fraction of time spent on arithmetic if moving one byte takes as long as `accelerator` FLOPs."""
    return intensity / max(intensity, accelerator)


def bound(intensity: float, accelerator: float) -> str:
    """Return which takes longer: moving the bytes or doing the arithmetic."""
    return "memory" if intensity < accelerator else "compute"
