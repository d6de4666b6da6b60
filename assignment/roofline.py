"""Roofline: is an operation compute-bound or memory-bound?

At best, arithmetic and data movement overlap, so the slower one determines the time. Training multiplies large
matrices and is compute-bound. Inference that generates one token at a time multiplies each weight matrix by a vector
and is memory-bound.

Details, for the first five functions:
- The work of an operation is a tuple (FLOPs, bytes) of exact ints, not floats.
- Every input is read once and the result written once, all in the floating-point `dtype`, with
  `dtype.itemsize` bytes per element.
- A sum of n products takes 2 · n FLOPs.
"""

import torch


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Return the FLOPs and bytes of `torch.relu(x)` on n elements: one FLOP (a comparison) per element.

    Example:
        relu_work(1024, torch.bfloat16)     # (1024, 4096): 0.25 FLOP/byte
    """
    raise NotImplementedError


def gelu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Return the FLOPs and bytes of `gelu(x)` on n elements: 20 FLOPs per element, the lecture's estimate.

    Example:
        gelu_work(1024, torch.bfloat16)     # (20480, 4096): 5 FLOP/byte, the same bytes as a ReLU
    """
    raise NotImplementedError


def dot_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Return the FLOPs and bytes of `x @ y` for two vectors of n elements.

    Example:
        dot_work(1024, torch.bfloat16)     # (2048, 4098): about 0.5 FLOP/byte
    """
    raise NotImplementedError


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Return the FLOPs and bytes of `w @ x` for an (m, n) matrix and a vector.

    Example:
        matrix_vector_work(1024, 1024, torch.bfloat16)     # (2097152, 2101248): about 1 FLOP/byte
    """
    raise NotImplementedError


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """Return the FLOPs and bytes of `a @ b` for an (m, k) matrix and a (k, n) matrix.

    Example:
        matrix_matrix_work(1024, 1024, 1024, torch.bfloat16)     # (2147483648, 6291456): 341.3 FLOP/byte, n / 3
    """
    raise NotImplementedError


def arithmetic_intensity(flops: int, bytes_moved: int) -> float:
    """Return the arithmetic intensity: FLOPs per byte moved.

    Example:
        arithmetic_intensity(2147483648, 6291456)     # 341.3: the matrix multiplication above
    """
    raise NotImplementedError


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """Return the accelerator intensity: how many FLOPs a device can perform while it moves one byte.

    Example:
        accelerator_intensity(1979e12 / 2, 3.35e12)     # 295.4: an H100 in bfloat16, dense
        accelerator_intensity(67e12, 3.35e12)           # 20: the same device in float32
    """
    raise NotImplementedError


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """Return the highest possible MFU: min(1, intensity / accelerator).

    Example:
        attainable_mfu(0.25, 295.4)      # about 0.00085: a ReLU on an H100
        attainable_mfu(341.3, 295.4)     # 1.0
    """
    raise NotImplementedError


def bound(intensity: float, accelerator: float) -> str:
    """Return "memory" if moving the bytes takes longer, "compute" if arithmetic does.

    Not specified (any choice is fine): the result if both take equally long.
    """
    raise NotImplementedError
