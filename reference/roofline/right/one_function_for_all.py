"""Uses exact fractions, multiplies by seconds per byte, returns 1 as an int, and returns "memory" for ties."""

from fractions import Fraction
from math import prod

import torch


def moved(dtype: torch.dtype, *shapes: tuple[int, ...]) -> int:
    return sum(prod(shape) for shape in shapes) * torch.empty(0, dtype=dtype).element_size()


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    return n, moved(dtype, (n,), (n,))


def gelu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    flops, size = relu_work(n, dtype)
    return 20 * flops, size


def dot_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    return n + n, moved(dtype, (n,), (n,), ())


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    return m * dot_work(n, dtype)[0], moved(dtype, (m, n), (n,), (m,))


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    return n * matrix_vector_work(m, k, dtype)[0], moved(dtype, (m, k), (k, n), (m, n))


def arithmetic_intensity(flops: int, bytes_moved: int) -> float:
    return float(Fraction(flops, bytes_moved))


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    seconds_per_byte = 1 / bytes_per_sec
    return flop_per_sec * seconds_per_byte


def attainable_mfu(intensity: float, accelerator: float) -> float:
    return 1 if intensity >= accelerator else intensity / accelerator


def bound(intensity: float, accelerator: float) -> str:
    return "compute" if intensity > accelerator else "memory"
