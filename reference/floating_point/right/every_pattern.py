"""Enumerates all bit patterns of the small dtypes and uses NumPy for float32."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor


@cache
def numbers(dtype: torch.dtype) -> Tensor:
    bits = torch.arange(256, dtype=torch.uint8)
    if dtype.itemsize == 2:
        bits = torch.arange(-(2**15), 2**15, dtype=torch.int16)
    values = bits.view(dtype).double()
    return values[values.isfinite()]


def underflows(value: float, dtype: torch.dtype) -> bool:
    if dtype == torch.float32:
        with np.errstate(all="ignore"):
            return value != 0 and float(np.float32(value)) == 0
    values = numbers(dtype)
    return 0 < abs(value) <= values[values > 0].min().item() / 2


def largest(dtype: torch.dtype) -> float:
    return float(np.finfo(np.float32).max) if dtype == torch.float32 else numbers(dtype).max().item()


def storage_bytes(shape: Sequence[int], dtype: torch.dtype) -> int:
    count = torch.finfo(dtype).bits // 8
    for size in shape:
        count *= size
    return count
