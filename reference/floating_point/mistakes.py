"""Mistakes about floating-point numbers."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from reference.floating_point import oracle
from torchkata import instead_of


@instead_of(oracle.underflows, "finfo.tiny is taken for the smallest number: subnormal numbers reach further down")
def without_subnormals(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < oracle.smallest(dtype) * 2 ** oracle.FORMATS[dtype].fraction


@instead_of(oracle.underflows, "finfo.eps is taken for the smallest number: it is the distance from 1 to the next one")
def below_epsilon(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < 2.0 ** -oracle.FORMATS[dtype].fraction


@instead_of(oracle.underflows, "what is below the smallest number is cut off to 0, not rounded to the nearest")
def cut_off(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < oracle.smallest(dtype)


@instead_of(
    oracle.underflows, "exactly half the smallest number is kept: half-way rounds to the even neighbour, which is 0"
)
def half_way_kept(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) < oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "0 itself is said to underflow")
def nothing_to_lose(value: float, dtype: str) -> bool:
    return abs(value) <= oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "negative numbers are compared without their absolute value")
def below_zero(value: float, dtype: str) -> bool:
    return value != 0 and value <= oracle.smallest(dtype) / 2


@instead_of(oracle.underflows, "negative numbers are said never to underflow")
def positive_only(value: float, dtype: str) -> bool:
    return value > 0 and oracle.underflows(value, dtype)


@instead_of(oracle.underflows, "the dtype makes no difference: float16 is taken for all")
def always_half(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) <= oracle.smallest("float16") / 2


@instead_of(oracle.underflows, "one bound, 1e-8, is used for all dtypes: each has a smallest number of its own")
def fixed_bound(value: float, dtype: str) -> bool:
    return value != 0 and abs(value) <= 1e-8


@instead_of(oracle.underflows, "bfloat16 is taken for float16: it has the exponents of float32")
def bfloat16_as_float16(value: float, dtype: str) -> bool:
    return oracle.underflows(value, "float16" if dtype == "bfloat16" else dtype)


@instead_of(oracle.underflows, "what becomes infinite is said to underflow, too: that is overflow")
def overflows_too(value: float, dtype: str) -> bool:
    form = oracle.FORMATS[dtype]
    infinite = oracle.largest(dtype) + 2.0 ** (form.bias - form.fraction - 1)
    return oracle.underflows(value, dtype) or (form.has_infinity and abs(value) >= infinite)


@instead_of(oracle.underflows, "NaN is taken for 0")
def not_a_number(value: float, dtype: str) -> bool:
    return math.isnan(value) or oracle.underflows(value, dtype)


@instead_of(oracle.underflows, "the answer is a tensor, not a bool")
def tensor_for_an_answer(value: float, dtype: str) -> Tensor:
    return torch.tensor(oracle.underflows(value, dtype))


@instead_of(oracle.largest, "the last exponent is kept for infinity in float8_e4m3fn, too, which has none")
def infinity_everywhere(dtype: str) -> float:
    form = oracle.FORMATS[dtype]
    return float((2 - 2.0**-form.fraction) * 2.0**form.bias)


@instead_of(oracle.largest, "the fraction is left out: the largest number is nearly twice its power of two")
def power_of_two(dtype: str) -> float:
    form = oracle.FORMATS[dtype]
    return float(2.0 ** (form.bias if form.has_infinity else form.bias + 1))


@instead_of(
    oracle.largest, "bfloat16 is given float32's largest number: with fewer bits of fraction its own is smaller"
)
def largest_of_float32(dtype: str) -> float:
    return oracle.largest("float32" if dtype == "bfloat16" else dtype)


@instead_of(oracle.largest, "infinity is returned: the largest finite number is asked for")
def infinite(dtype: str) -> float:
    return math.inf


@instead_of(oracle.largest, "the number is rounded to two digits: it should be exact")
def two_digits(dtype: str) -> float:
    return float(f"{oracle.largest(dtype):.2g}")


@instead_of(oracle.storage_bytes, "bits are counted, not bytes")
def bits(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return 8 * oracle.storage_bytes(shape, dtype, times)


@instead_of(oracle.storage_bytes, "four bytes are counted for each element, whatever the dtype")
def always_four(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return 4 * times * math.prod(shape)


@instead_of(oracle.storage_bytes, "at least two bytes are counted for each element: float8 takes one")
def at_least_two(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return times * math.prod(shape) * max(2, oracle.storage_bytes((), dtype))


@instead_of(oracle.storage_bytes, "elements are counted, not bytes")
def elements(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return times * math.prod(shape)


@instead_of(oracle.storage_bytes, "the sizes are added up, not multiplied")
def sum_of_sizes(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return sum([*shape[:-1], *(times * size for size in shape[-1:])]) * oracle.storage_bytes((), dtype)


@instead_of(oracle.storage_bytes, "only the first two sizes are multiplied: a shape may have any number of them")
def first_two_sizes(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return oracle.storage_bytes(shape[:2], dtype, times if len(shape) < 3 else 1)


@instead_of(oracle.storage_bytes, "a scalar is said to take nothing: it has no sizes, and one element")
def scalars_take_nothing(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return oracle.storage_bytes(shape, dtype, times) if shape else 0


@instead_of(oracle.storage_bytes, "sizes of 0 are left out of the product: with one of them there are no elements")
def zeros_left_out(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return oracle.storage_bytes([size for size in shape if size], dtype, times)


@instead_of(oracle.storage_bytes, "the bytes are counted in floats, which lose the last digits of large numbers")
def in_floats(shape: Sequence[int], dtype: str, times: int = 1) -> int:
    return int(float(times * math.prod(shape)) * oracle.storage_bytes((), dtype))


@instead_of(oracle.storage_bytes, "the bytes are counted in a tensor; the answer is to be a Python int")
def in_a_tensor(shape: Sequence[int], dtype: str, times: int = 1) -> Tensor:
    return torch.tensor([*shape, times]).prod() * oracle.storage_bytes((), dtype)
