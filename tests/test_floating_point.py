"""Tests for floating_point."""

import math

from hypothesis import given
from hypothesis import strategies as st

from reference.floating_point import oracle
from tests.probes import floating_point as probes
from tests.strategies import SEQUENCES
from torchkata import Student, Text, asking, assert_equal, check, literal, precondition

NAMES = list(oracle.FORMATS)
DTYPE = st.sampled_from(NAMES)
SIGN = st.sampled_from([1.0, -1.0])
BEYOND_FLOATS = st.integers(2**52, 2**53).map(lambda half: 2 * half + 1)
FAR_LARGER = 2.0**40
FACTORS = st.sampled_from([0.4, 0.6, 0.9, 1.1, 1.7, 3.0])  # no powers of two, at which results of rounding change


def assert_underflows(student: Student, value: float, dtypes: list[str], note: Text | str = "") -> None:
    """Check the answer for a value in each of the given dtypes."""
    yours = student.call(probes.underflows, value, dtypes)
    for name in dtypes:
        with asking(f"underflows({literal(value)}, torch.{name})"):
            assert_equal(yours[name], oracle.underflows(value, name), note=note)


@given(st.floats(-50, 5), DTYPE, FACTORS, SIGN)
def test_small_numbers_underflow(student: Student, exponent: float, dtype: str, factor: float, sign: float) -> None:
    """The result is a bool: True if a nonzero number is at most half the smallest positive one in size, else False."""
    smallest = oracle.smallest(dtype)
    limits = smallest / 2, smallest * 2.0 ** oracle.FORMATS[dtype].fraction, oracle.largest(dtype)
    for value in (10.0**exponent, *(factor * limit for limit in limits)):
        assert_underflows(student, sign * value, NAMES)


@given(DTYPE, st.sampled_from([1.0, 1 + 2**-8, 1 - 2**-8, 1.5, 2.0, 0.75, 3.0, 4.0, 6.0, 8.5]), SIGN)
def test_rounds_to_nearest(student: Student, dtype: str, factor: float, sign: float) -> None:
    """The result is a bool: True up to exactly half the smallest positive number in size, and False above it."""
    for times in (factor, FAR_LARGER):
        assert_underflows(student, sign * times * oracle.smallest(dtype) / 2, [dtype])


@given(DTYPE, st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e300]))
def test_zero_nan_and_infinity_do_not_underflow(student: Student, dtype: str, value: float) -> None:
    """The result is False for a number that is 0, infinite, NaN or huge."""
    control = Text("a quarter of the smallest positive number underflows")
    with precondition():
        assert_underflows(student, oracle.smallest(dtype) / 4, [dtype], control)
    assert_underflows(student, value, [dtype])


@given(DTYPE)
def test_largest_returns_largest_finite_number(student: Student, dtype: str) -> None:
    """largest(dtype) is the largest finite number of the dtype, to the last bit, as a Python number."""
    yours, expected = student.call(probes.largest, dtype), oracle.largest(dtype)
    is_number = type(yours) in (int, float)
    check(is_number, Text("return a Python number"), yours=yours, expected=str(expected))
    assert_equal(float(yours), expected, what="largest")


@given(st.lists(st.integers(1, 9), max_size=4), DTYPE)
def test_bytes_equal_numel_times_itemsize(student: Student, shape: list[int], dtype: str) -> None:
    """The size in bytes is an int: the number of elements, 1 for a scalar, times the bytes per element."""
    yours = student.call(probes.storage_bytes, shape, dtype, "tuple")
    assert_equal(yours, oracle.storage_bytes(shape, dtype), what=Text("bytes"))


@given(st.permutations([0, 3, 1]), st.integers(1, 3), DTYPE, SEQUENCES)
def test_empty_tensor_has_zero_bytes(student: Student, sizes: list[int], rank: int, dtype: str, kind: str) -> None:
    """The size in bytes is the right int even with a dimension of size 0, for a tuple, a list or a torch.Size."""
    shape = sizes[:rank]
    yours = student.call(probes.storage_bytes, shape, dtype, kind)
    assert_equal(yours, oracle.storage_bytes(shape, dtype), what=Text("bytes"))


@given(st.integers(1, 5), st.integers(1, 5), BEYOND_FLOATS, DTYPE)
def test_large_tensors_are_not_allocated(student: Student, a: int, b: int, times: int, dtype: str) -> None:
    """The result is the exact int even for tensors that are larger than memory."""
    shape = [a | 1, b | 1, 1]
    yours = student.call(probes.storage_bytes, [*shape[:-1], times], dtype, "tuple")
    assert_equal(yours, oracle.storage_bytes(shape, dtype, times), what=Text("bytes"))
