"""Floating-point formats, from their bits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product


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


def number(bits: int, form: Format) -> float:
    """The number with these bits of exponent and fraction, whose leading 1 is left out but at the lowest exponent."""
    exponent, fraction = divmod(bits, 2**form.fraction)
    whole = 2**form.fraction if exponent else 0
    return math.ldexp(whole + fraction, max(exponent, 1) - form.bias - form.fraction)


def smallest(dtype: str) -> float:
    """The smallest number above 0, whose bits are one more than those of 0."""
    return number(1, FORMATS[dtype])


def largest(dtype: str) -> float:
    """The largest finite number: the last bits before infinity, or where there is none, before the only NaN."""
    form = FORMATS[dtype]
    after_all = 2 ** (form.exponent + form.fraction)
    return number(after_all - (2**form.fraction if form.has_infinity else 1) - 1, form)


def underflows(value: float, dtype: str) -> bool:
    """Whether `value`, not 0 itself, is no nearer to the number next to 0 than to 0, which is even."""
    return value != 0 and abs(value) <= smallest(dtype) - abs(value)


def storage_bytes(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    """Bit by bit, of each element in turn; the last axis is `times` as long."""
    form = FORMATS[dtype]
    bits = sum(1 + form.exponent + form.fraction for _ in product(*map(range, shape)))
    return times * bits // 8
