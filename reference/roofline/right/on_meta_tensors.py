"""Builds meta tensors to count bytes, and returns a NamedTuple, which is a tuple."""

import operator
from typing import NamedTuple

import torch


class Work(NamedTuple):
    """A tuple of FLOPs and bytes."""

    flops: int
    bytes: int


def work(flops: int, dtype: torch.dtype, *shapes: list[int]) -> Work:
    tensors = [torch.empty(shape, dtype=dtype, device="meta") for shape in shapes]
    return Work(flops, sum(tensor.untyped_storage().nbytes() for tensor in tensors))


def relu_work(n: int, dtype: torch.dtype) -> Work:
    return work(n, dtype, [n], [n])


def gelu_work(n: int, dtype: torch.dtype) -> Work:
    return work(n * 20, dtype, [n], [n])


def dot_work(n: int, dtype: torch.dtype) -> Work:
    return work(n * 2, dtype, [n], [n], [])


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> Work:
    return work(m * n * 2, dtype, [m, n], [n], [m])


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> Work:
    return work(m * n * k * 2, dtype, [m, k], [k, n], [m, n])


arithmetic_intensity = operator.truediv
accelerator_intensity = operator.truediv


def attainable_mfu(intensity: float, accelerator: float) -> float:
    return sorted([intensity / accelerator, 1.0])[0]


def bound(intensity: float, accelerator: float) -> str:
    return ("memory", "compute")[attainable_mfu(intensity, accelerator) == 1.0]
