"""Computes everything from the bit widths, without torch."""

from collections.abc import Sequence
from functools import reduce
from operator import mul

import torch

BITS = {  # exponent bits, fraction bits
    torch.float32: (8, 23),
    torch.float16: (5, 10),
    torch.bfloat16: (8, 7),
    torch.float8_e4m3fn: (4, 3),
    torch.float8_e5m2: (5, 2),
}


def underflows(value: float, dtype: torch.dtype) -> bool:
    exponent, fraction = BITS[dtype]
    return 0 < abs(value) <= 2.0 ** (1 - 2 ** (exponent - 1) + 1 - fraction - 1)


def largest(dtype: torch.dtype) -> float:
    exponent, fraction = BITS[dtype]
    if dtype == torch.float8_e4m3fn:
        return 448.0
    return float((2 ** (fraction + 1) - 1) * 2 ** (2 ** (exponent - 1) - 1 - fraction))


def storage_bytes(shape: Sequence[int], dtype: torch.dtype) -> int:
    return reduce(mul, shape, (sum(BITS[dtype]) + 1) // 8)
