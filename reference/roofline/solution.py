"""Is an operation bound by arithmetic or by memory?"""

import torch


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """A comparison for each element."""
    return n, 2 * n * dtype.itemsize


def gelu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """A polynomial for each element."""
    return 20 * n, 2 * n * dtype.itemsize


def dot_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """A row by a column."""
    return matrix_matrix_work(1, n, 1, dtype)


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """A matrix by a column."""
    return matrix_matrix_work(m, n, 1, dtype)


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Read both, write the result."""
    elements = m * k + k * n + m * n
    return 2 * m * k * n, elements * dtype.itemsize


def arithmetic_intensity(flops: int, bytes_moved: int) -> float:
    """What an operation asks."""
    return flops / bytes_moved


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """What a device offers."""
    return flop_per_sec / bytes_per_sec


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """A slope, then a roof."""
    return min(1.0, intensity / accelerator)


def bound(intensity: float, accelerator: float) -> str:
    """Left or right of where slope and roof meet."""
    return "memory" if intensity < accelerator else "compute"
