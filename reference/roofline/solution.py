"""The FLOPs and the memory traffic of operations, and the roofline model."""

import torch


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count one comparison per element."""
    return n, 2 * n * dtype.itemsize


def gelu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count 20 FLOPs per element."""
    return 20 * n, 2 * n * dtype.itemsize


def dot_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count the FLOPs and bytes of multiplying a row by a column."""
    return matrix_matrix_work(1, n, 1, dtype)


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count the FLOPs and bytes of multiplying a matrix by a column."""
    return matrix_matrix_work(m, n, 1, dtype)


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count the FLOPs of the product, and the bytes needed to read two matrices and write one."""
    elements = m * k + k * n + m * n
    return 2 * m * k * n, elements * dtype.itemsize


def arithmetic_intensity(flops: int, bytes_moved: int) -> float:
    """Divide FLOPs by bytes."""
    return flops / bytes_moved


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """Divide FLOP/s by bytes/s."""
    return flop_per_sec / bytes_per_sec


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """Clamp the ratio to at most 1."""
    return min(1.0, intensity / accelerator)


def bound(intensity: float, accelerator: float) -> str:
    """Compare the two intensities."""
    return "memory" if intensity < accelerator else "compute"
