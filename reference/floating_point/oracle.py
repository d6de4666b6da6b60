"""Floating-point formats, from their bits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """How a dtype spends its bits, beside the one for the sign."""

    exponent: int
    fraction: int
    has_infinity: bool = True

    @property
    def bias(self) -> int:
        """What is taken off the stored exponent."""
        return int(2 ** (self.exponent - 1) - 1)


FORMATS = {  # IEEE 754, but for bfloat16 and the two of the OCP 8-bit floating point specification
    "float32": Format(8, 23),
    "float16": Format(5, 10),
    "bfloat16": Format(8, 7),
    "float8_e4m3fn": Format(4, 3, has_infinity=False),
    "float8_e5m2": Format(5, 2),
}


def smallest(dtype: str) -> float:
    """The smallest number above 0: the last bit of the fraction at the lowest exponent."""
    form = FORMATS[dtype]
    return float(2.0 ** (1 - form.bias - form.fraction))


def largest(dtype: str) -> float:
    """The largest finite number; without infinity only the very last pattern of bits is kept back, for NaN."""
    form = FORMATS[dtype]
    last = 2.0**-form.fraction
    return float((2 - last) * 2.0**form.bias if form.has_infinity else (2 - 2 * last) * 2.0 ** (form.bias + 1))


def underflows(value: float, dtype: str) -> bool:
    """Whether `value`, not 0 itself, is rounded to 0: half-way goes to the even neighbour, which is 0."""
    return value != 0 and abs(value) <= smallest(dtype) / 2


def storage_bytes(shape: Sequence[int], dtype: str) -> int:
    """Elements times bytes each."""
    form = FORMATS[dtype]
    return math.prod(shape) * (1 + form.exponent + form.fraction) // 8
