"""Mistakes about floating-point numbers."""

import math
from collections.abc import Sequence

from reference.misconceptions import instead_of
from reference.oracle import floating_point as oracle


@instead_of(oracle.underflows, "finfo.tiny is taken for the smallest number: subnormal numbers reach further down")
def without_subnormals(value: float, dtype: str) -> bool:
    """Numbers between 0 and `tiny` have fewer bits, but are not 0."""
    return value != 0 and abs(value) < oracle.smallest(dtype) * 2 ** oracle.FORMATS[dtype].fraction


@instead_of(oracle.underflows, "finfo.eps is taken for the smallest number: it is the distance from 1 to the next one")
def below_epsilon(value: float, dtype: str) -> bool:
    """Relative and absolute smallness mixed up."""
    return value != 0 and abs(value) < 2.0 ** -oracle.FORMATS[dtype].fraction


@instead_of(oracle.underflows, "what is below the smallest number is cut off to 0, not rounded to the nearest")
def cut_off(value: float, dtype: str) -> bool:
    """From half the smallest number on it is rounded up."""
    return value != 0 and abs(value) < oracle.smallest(dtype)


@instead_of(oracle.underflows, "0 itself is said to underflow")
def nothing_to_lose(value: float, dtype: str) -> bool:
    """Asks only what the number becomes."""
    return abs(value) <= oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "negative numbers are compared without their absolute value")
def below_zero(value: float, dtype: str) -> bool:
    """Every negative number is below every bound."""
    return value != 0 and value <= oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "the dtype makes no difference: float16 is taken for all")
def always_half(value: float, dtype: str) -> bool:
    """The lecture's example for every dtype."""
    return value != 0 and abs(value) <= oracle.smallest("float16") / 2


@instead_of(oracle.largest, "the last exponent is kept for infinity in float8_e4m3fn, too, which has none")
def infinity_everywhere(dtype: str) -> float:
    """240 for float8_e4m3fn."""
    form = oracle.FORMATS[dtype]
    return float((2 - 2.0**-form.fraction) * 2.0**form.bias)


@instead_of(oracle.largest, "the fraction is left out: the largest number is nearly twice its power of two")
def power_of_two(dtype: str) -> float:
    """The largest power of two."""
    form = oracle.FORMATS[dtype]
    return float(2.0 ** (form.bias if form.has_infinity else form.bias + 1))


@instead_of(oracle.storage_bytes, "bits are counted, not bytes")
def bits(shape: Sequence[int], dtype: str) -> int:
    """`finfo.bits` is eight times too much."""
    form = oracle.FORMATS[dtype]
    return math.prod(shape) * (1 + form.exponent + form.fraction)


@instead_of(oracle.storage_bytes, "four bytes are counted for each element, whatever the dtype")
def always_four(shape: Sequence[int], dtype: str) -> int:
    """Right for float32."""
    return 4 * math.prod(shape)


@instead_of(oracle.storage_bytes, "elements are counted, not bytes")
def elements(shape: Sequence[int], dtype: str) -> int:
    """Right for dtypes of one byte."""
    return math.prod(shape)


@instead_of(oracle.storage_bytes, "the sizes are added up, not multiplied")
def sum_of_sizes(shape: Sequence[int], dtype: str) -> int:
    """Right for one axis."""
    form = oracle.FORMATS[dtype]
    return sum(shape) * (1 + form.exponent + form.fraction) // 8
