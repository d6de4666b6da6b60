"""Oracle for floating_point, derived from the bits of each format."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Format:
    """The numbers of exponent and fraction bits of a dtype. Every dtype also has a sign bit."""

    exponent: int
    fraction: int
    has_infinity: bool = True

    @property
    def bias(self) -> int:
        """The exponent bias, which is subtracted from the stored exponent."""
        return int(2 ** (self.exponent - 1) - 1)


FORMATS = {  # IEEE 754, bfloat16, and the OCP 8-bit floating point specification
    "float32": Format(8, 23),
    "float16": Format(5, 10),
    "bfloat16": Format(8, 7),
    "float8_e4m3fn": Format(4, 3, has_infinity=False),
    "float8_e5m2": Format(5, 2),
}


def decode(bits: int, form: Format) -> float:
    """Return the number with the given exponent and fraction bits. Subnormal numbers have no implicit leading 1."""
    exponent, fraction = divmod(bits, 2**form.fraction)
    whole = 2**form.fraction if exponent else 0
    return math.ldexp(whole + fraction, max(exponent, 1) - form.bias - form.fraction)


def smallest(dtype: str) -> float:
    """Return the smallest positive number, whose bit pattern follows the bit pattern of 0."""
    return decode(1, FORMATS[dtype])


def largest(dtype: str) -> float:
    """Return the largest finite number. The next bit pattern is infinity, or the single NaN if there is no infinity."""
    form = FORMATS[dtype]
    patterns = 2 ** (form.exponent + form.fraction)
    return decode(patterns - (2**form.fraction if form.has_infinity else 1) - 1, form)


def underflows(value: float, dtype: str) -> bool:
    """Return True if a nonzero value rounds to 0, i.e., if it is at most half of the smallest number (ties go to 0)."""
    return value != 0 and abs(value) <= smallest(dtype) - abs(value)


def storage_bytes(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    """Return the size in bytes of a tensor with a last dimension that is `times` times as long as in `shape`."""
    form = FORMATS[dtype]
    bits = sum(1 + form.exponent + form.fraction for _ in product(*map(range, shape)))
    return times * bits // 8
