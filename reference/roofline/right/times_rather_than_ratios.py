"""Compares times instead of ratios, with a table of itemsizes."""

import torch

BYTES = {torch.float64: 8, torch.float32: 4, torch.bfloat16: 2, torch.float16: 2, torch.float8_e4m3fn: 1}


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    return (n, BYTES[dtype] * (n + n))


def gelu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    return (20 * n, BYTES[dtype] * (n + n))


def dot_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    return (2 * n, BYTES[dtype] * (2 * n + 1))


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    return (2 * m * n, BYTES[dtype] * (m * n + n + m))


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    return (2 * m * k * n, BYTES[dtype] * (m * (k + n) + k * n))


def arithmetic_intensity(flops: int, bytes_moved: int) -> float:
    return float(flops) / float(bytes_moved)


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    return 1 / (bytes_per_sec / flop_per_sec)


def attainable_mfu(intensity: float, accelerator: float) -> float:
    computing, moving = intensity / accelerator, 1.0
    return computing / max(computing, moving)


def bound(intensity: float, accelerator: float) -> str:
    seconds = {"memory": 1.0, "compute": intensity / accelerator}
    return max(seconds, key=lambda limit: seconds[limit])
