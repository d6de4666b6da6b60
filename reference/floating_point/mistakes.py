"""Common mistakes in floating_point."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from reference.floating_point import oracle
from torchkata import instead_of


@instead_of(oracle.underflows, "returns True for every number below finfo.tiny: subnormal numbers are smaller")
def without_subnormals(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < oracle.smallest(dtype) * 2 ** oracle.FORMATS[dtype].fraction


@instead_of(
    oracle.underflows,
    "returns True for every number below finfo.eps, which is only the distance from 1 to the next number",
)
def below_epsilon(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < 2.0 ** -oracle.FORMATS[dtype].fraction


@instead_of(
    oracle.underflows,
    "treats everything below the smallest number as 0: numbers are rounded to nearest, so the threshold is half of it",
)
def cut_off(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < oracle.smallest(dtype)


@instead_of(
    oracle.underflows,
    "the threshold is half of finfo.tiny, the smallest normal number: subnormal numbers are smaller",
)
def half_of_tiny(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) <= oracle.smallest(dtype) * 2 ** (oracle.FORMATS[dtype].fraction - 1)


@instead_of(
    oracle.underflows,
    "returns True for every number smaller than the largest one: -finfo.min is the largest, not the smallest positive",
)
def below_the_largest(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < oracle.largest(dtype)


@instead_of(
    oracle.underflows,
    "returns True only below finfo.min, the negative number farthest from 0, not the smallest positive number",
)
def below_finfo_min(value: float, dtype: str) -> bool:
    return value < -oracle.largest(dtype)


@instead_of(oracle.underflows, "returns False already for 0.75 times half the smallest positive number")
def threshold_too_small(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) <= oracle.smallest(dtype) / 4


@instead_of(
    oracle.underflows, "returns False for exactly half the smallest positive number: ties round to even, here to 0"
)
def half_way_kept(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "returns True for 0, which was already 0")
def nothing_to_lose(value: float, dtype: str) -> bool:
    return abs(value) <= oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "returns True for every negative number: compare its absolute value")
def below_zero(value: float, dtype: str) -> bool:
    return value != 0 and value <= oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "treats numbers that are 0 in float32 as 0: as Python floats, they are not 0")
def zero_in_float32(value: float, dtype: str) -> bool:
    return abs(value) > oracle.smallest("float32") / 2 and oracle.underflows(value, dtype)


@instead_of(oracle.underflows, "always returns False for negative numbers")
def positive_only(value: float, dtype: str) -> bool:
    return value > 0 and oracle.underflows(value, dtype)


@instead_of(oracle.underflows, "uses float16 for every dtype")
def always_half(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) <= oracle.smallest("float16") / 2


@instead_of(oracle.underflows, "uses the same threshold for every dtype, although it depends on the dtype")
def fixed_bound(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) <= 1e-8


@instead_of(oracle.underflows, "treats bfloat16 as float16: bfloat16 has the exponent range of float32")
def bfloat16_as_float16(value: float, dtype: str) -> bool:
    return oracle.underflows(value, "float16" if dtype == "bfloat16" else dtype)


@instead_of(oracle.underflows, "returns True for numbers that become infinite: that is overflow")
def overflows_too(value: float, dtype: str) -> bool:
    form = oracle.FORMATS[dtype]
    infinite = oracle.largest(dtype) + 2.0 ** (form.bias - form.fraction - 1)
    return oracle.underflows(value, dtype) or (form.has_infinity and abs(value) >= infinite)


@instead_of(oracle.underflows, "returns True for NaN")
def not_a_number(value: float, dtype: str) -> bool:
    return math.isnan(value) or oracle.underflows(value, dtype)


@instead_of(oracle.underflows, "returns a tensor instead of a bool")
def tensor_for_an_answer(value: float, dtype: str) -> Tensor:
    return torch.tensor(oracle.underflows(value, dtype))


@instead_of(
    oracle.largest,
    "returns 240 for float8_e4m3fn, as if its largest exponent were reserved for infinity, which it does not have",
)
def infinity_everywhere(dtype: str) -> float:
    form = oracle.FORMATS[dtype]
    return float((2 - 2.0**-form.fraction) * 2.0**form.bias)


@instead_of(
    oracle.largest,
    "returns 480 for float8_e4m3fn: with all bits but the sign set, the code is NaN in this dtype, and the one before "
    "it is 448",
)
def nan_as_number(dtype: str) -> float:
    return 480.0 if dtype == "float8_e4m3fn" else oracle.largest(dtype)


@instead_of(
    oracle.largest,
    "takes the codes of infinity and NaN for numbers: only in float8_e4m3fn does the largest exponent encode numbers",
)
def special_codes_as_numbers(dtype: str) -> float:
    form = oracle.FORMATS[dtype]
    return float((2 - 2.0**-form.fraction) * 2.0 ** (form.bias + 1))


@instead_of(
    oracle.largest,
    "takes float8_e5m2 for a dtype without infinity, as float8_e4m3fn is, and returns {value:g}",
    value=[98304.0, 114688.0],
)
def no_infinity_in_float8(dtype: str, value: float) -> float:
    return value if dtype == "float8_e5m2" else oracle.largest(dtype)


@instead_of(
    oracle.largest,
    "returns the largest power of two: with its fraction bits, the largest number is nearly twice as large",
)
def power_of_two(dtype: str) -> float:
    form = oracle.FORMATS[dtype]
    return float(2.0 ** (form.bias if form.has_infinity else form.bias + 1))


@instead_of(
    oracle.largest,
    "uses the largest exponent of float16, 15, for every dtype: dtypes with more exponent bits have a larger one",
)
def exponent_of_float16(dtype: str) -> float:
    return float((2 - 2.0 ** -oracle.FORMATS[dtype].fraction) * 2.0**15)


@instead_of(oracle.largest, "returns the largest float32 number for bfloat16, which has fewer fraction bits")
def largest_of_float32(dtype: str) -> float:
    return oracle.largest("float32" if dtype == "bfloat16" else dtype)


@instead_of(oracle.largest, "returns the number before the largest: the largest fraction, all ones, is 2 - 2**-bits")
def one_before_the_largest(dtype: str) -> float:
    form = oracle.FORMATS[dtype]
    return oracle.largest(dtype) - float(2.0 ** (form.bias - form.fraction) if form.has_infinity else 0)


@instead_of(oracle.largest, "returns infinity instead of the largest finite number")
def infinite(dtype: str) -> float:
    return math.inf


@instead_of(oracle.largest, "rounds to two digits: the result should be exact")
def two_digits(dtype: str) -> float:
    return float(f"{oracle.largest(dtype):.2g}")


@instead_of(oracle.storage_bytes, "returns bits instead of bytes")
def bits(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return 8 * oracle.storage_bytes(shape, dtype, times)


@instead_of(oracle.storage_bytes, "assumes 4 bytes per element for every dtype")
def always_four(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return 4 * times * math.prod(shape)


@instead_of(oracle.storage_bytes, "assumes at least 2 bytes per element: float8 takes 1")
def at_least_two(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return times * math.prod(shape) * max(2, oracle.storage_bytes((), dtype))


@instead_of(oracle.storage_bytes, "returns the number of elements instead of bytes")
def elements(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return times * math.prod(shape)


@instead_of(oracle.storage_bytes, "adds the sizes instead of multiplying them")
def sum_of_sizes(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return sum([*shape[:-1], *(times * size for size in shape[-1:])]) * oracle.storage_bytes((), dtype)


@instead_of(oracle.storage_bytes, "multiplies only the first two sizes")
def first_two_sizes(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return oracle.storage_bytes(shape[:2], dtype, times if len(shape) < 3 else 1)


@instead_of(oracle.storage_bytes, "returns 0 for a scalar, which has one element")
def scalars_take_nothing(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return oracle.storage_bytes(shape, dtype, times) if shape else 0


@instead_of(oracle.storage_bytes, "omits sizes of 0 from the product: a tensor with a size of 0 has no elements")
def zeros_left_out(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return oracle.storage_bytes([size for size in shape if size], dtype, times)


@instead_of(oracle.storage_bytes, "large numbers are rounded, as in floats")
def in_floats(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return int(float(times * math.prod(shape)) * oracle.storage_bytes((), dtype))


@instead_of(oracle.storage_bytes, "returns a tensor instead of a Python int")
def in_a_tensor(shape: Sequence[int], dtype: str, times: int = 1) -> Tensor:
    return torch.tensor([*shape, times]).prod() * oracle.storage_bytes((), dtype)
