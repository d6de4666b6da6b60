"""Replaces the student's `roofline` in katas that build on it, if the student's version fails its tests."""

import torch


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count one FLOP, one read and one write per element."""
    return n, 2 * n * dtype.itemsize


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count the FLOPs and bytes of multiplying a matrix by a single column."""
    return matrix_matrix_work(m, n, 1, dtype)


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Count the FLOPs of the product, and the bytes needed to read two matrices and write one."""
    return 2 * m * k * n, (m * k + k * n + m * n) * dtype.itemsize
