"""Compute: is an operation bound by arithmetic or by memory?

To do anything, a device reads the inputs from memory, computes, and writes the result back. At best all of that goes on
at the same time; then the slower of the two, arithmetic or memory, decides how long it takes.
"""

import torch

# The first five functions return (FLOPs, bytes), a tuple of two ints, which stay exact however large they are. An
# element takes `dtype.itemsize` bytes: 4 in float32, 2 in bfloat16, 1 in float8. Every input is read once, the result
# is written once, all of them in `dtype`. A sum of n products takes 2 · n FLOPs, as in flop_accounting (2 · n − 1, as
# some count, leaves out the first addition).


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`torch.relu(x)` of n elements: one FLOP each, a comparison.

    Example:
        relu_work(1024, torch.bfloat16)     # (1024, 4096): 0.25 FLOP/byte
    """
    raise NotImplementedError


def gelu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`gelu(x)` of n elements: by the lecture's estimate 20 FLOPs each, for its tanh is a polynomial.

    Example:
        gelu_work(1024, torch.bfloat16)     # (20480, 4096): 5 FLOP/byte
    """
    raise NotImplementedError


def dot_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`x @ y` of two vectors of n elements: n products, and their sum is one element.

    Example:
        dot_work(1024, torch.bfloat16)     # (2048, 4098): about 0.5 FLOP/byte
    """
    raise NotImplementedError


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`w @ x` of a matrix (m, n) and a vector of n elements: what generating one token does with each weight.

    Example:
        matrix_vector_work(1024, 1024, torch.bfloat16)     # (2097152, 2101248): about 1 FLOP/byte
    """
    raise NotImplementedError


def matrix_matrix_work(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`a @ b` of matrices (m, k) and (k, n): what training does.

    Example:
        matrix_matrix_work(1024, 1024, 1024, torch.bfloat16)     # (2147483648, 6291456): 341.3 FLOP/byte, n / 3
    """
    raise NotImplementedError


def arithmetic_intensity(flops: int, bytes_moved: int) -> float:
    """FLOPs for each byte that is moved: what an operation asks of a device."""
    raise NotImplementedError


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """FLOPs that a device can do in the time in which it moves one byte.

    Example:
        accelerator_intensity(1979e12 / 2, 3.35e12)     # 295.4 FLOP/byte: an H100 in bfloat16, dense
    """
    raise NotImplementedError


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """The largest share of its peak that a device can reach: min(1, intensity / accelerator).

    The roofline: it rises with the intensity of the operation, until that of the accelerator, and is flat from there.

    Example:
        attainable_mfu(0.25, 295.4)      # 0.00085: a ReLU leaves an H100 idle for more than 99.9 % of the time
        attainable_mfu(341.3, 295.4)     # 1.0
    """
    raise NotImplementedError


def bound(intensity: float, accelerator: float) -> str:
    """What decides how long an operation takes: "memory" or "compute".

    "memory" if moving the bytes takes longer than the arithmetic, "compute" if it is the other way round. Open: which
    of the two when both take equally long.
    """
    raise NotImplementedError
