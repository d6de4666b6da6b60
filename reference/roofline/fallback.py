"""Takes the place of `roofline` while what builds on it is graded: the work of operations."""

import torch


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Read and written once."""
    return n, 2 * n * dtype.itemsize


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """A product with a column."""
    return matrix_matrix_work(m, n, 1, dtype)


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Two matrices read, one written."""
    return 2 * m * k * n, (m * k + k * n + m * n) * dtype.itemsize
