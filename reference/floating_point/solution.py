"""Properties of floating-point dtypes, obtained from torch."""

import math
from collections.abc import Sequence

import torch


def underflows(value: float, dtype: torch.dtype) -> bool:
    """Convert the value to the dtype, and compare the result with 0 in float64."""
    return value != 0 and torch.tensor(value, dtype=torch.float64).to(dtype).double().item() == 0


def largest(dtype: torch.dtype) -> float:
    """Read the largest number from `finfo`."""
    return torch.finfo(dtype).max


def storage_bytes(shape: Sequence[int], dtype: torch.dtype) -> int:
    """Multiply the number of elements by the bytes per element."""
    return math.prod(shape) * dtype.itemsize
