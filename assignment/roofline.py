"""Compute: is an operation compute-bound or memory-bound? The roofline tells by its arithmetic intensity.

To do anything, a device reads the inputs from memory, computes, and writes the result back. At best all of that goes on
at the same time; then the slower of the two, arithmetic or memory, decides how long it takes.
"""

import torch

# The first five functions return (FLOPs, bytes), a tuple of two ints, counted exactly: a float holds whole numbers up
# to 2**53. An element takes `dtype.itemsize` bytes: 4 in float32, 2 in bfloat16, 1 in float8. Every input is read once,
# the result is written once, all of them in `dtype`. A sum of n products takes 2 · n FLOPs, as in flop_accounting
# (2 · n − 1, as some count, leaves out the first addition).


def relu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`torch.relu(x)` of n elements: one FLOP each, a comparison.

    Example:
        relu_work(1024, torch.bfloat16)     # (1024, 4096): 0.25 FLOP/byte
    """
    raise NotImplementedError


def gelu_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`gelu(x)` of n elements: by the lecture's estimate 20 FLOPs each, most of them to approximate its tanh.

    Example:
        gelu_work(1024, torch.bfloat16)     # (20480, 4096): 5 FLOP/byte. A ReLU moves as many bytes: both take as long
    """
    raise NotImplementedError


def dot_work(n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`x @ y` of two vectors of n elements: n products, and their sum is one element.

    Example:
        dot_work(1024, torch.bfloat16)     # (2048, 4098): about 0.5 FLOP/byte
    """
    raise NotImplementedError


def matrix_vector_work(m: int, n: int, dtype: torch.dtype) -> tuple[int, int]:
    """`w @ x` of a matrix (m, n) and a vector of n elements: what inference does with each weight for one token.

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
    """Arithmetic intensity: FLOPs for each byte that is moved, which is what an operation asks of a device.

    Example:
        arithmetic_intensity(2147483648, 6291456)     # 341.3: the product of matrices above
    """
    raise NotImplementedError


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """Accelerator intensity: FLOPs that a device can do in the time in which it moves one byte.

    Example:
        accelerator_intensity(1979e12 / 2, 3.35e12)     # 295.4: an H100 in bfloat16, dense
        accelerator_intensity(67e12, 3.35e12)           # 20: the same in float32
    """
    raise NotImplementedError


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """The largest share of its peak that a device can reach: min(1, intensity / accelerator).

    The roofline: it rises with the intensity of the operation, until that of the accelerator, and is flat from there.

    Example:
        attainable_mfu(0.25, 295.4)      # about 0.00085: a ReLU keeps an H100's memory busy, and hardly its arithmetic
        attainable_mfu(341.3, 295.4)     # 1.0
    """
    raise NotImplementedError


def bound(intensity: float, accelerator: float) -> str:
    """What decides how long an operation takes: "memory" (it is memory-bound) or "compute" (compute-bound).

    "memory" if moving the bytes takes longer than the arithmetic, "compute" if it is the other way round. Left to you:
    which of the two when both take equally long.
    """
    raise NotImplementedError
