"""What torch knows of its floating-point dtypes."""

import math
from collections.abc import Sequence

import torch


def underflows(value: float, dtype: torch.dtype) -> bool:
    """Convert it and look, in a dtype that can be compared."""
    return value != 0 and torch.tensor(value, dtype=torch.float64).to(dtype).double().item() == 0


def largest(dtype: torch.dtype) -> float:
    """`finfo` knows."""
    return torch.finfo(dtype).max


def storage_bytes(shape: Sequence[int], dtype: torch.dtype) -> int:
    """Elements times bytes each."""
    return math.prod(shape) * dtype.itemsize
