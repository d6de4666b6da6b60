"""normalise: scale every row to length one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array

from reference.normalise import oracle
from tests.probes import normalise as probes
from tests.strategies import SEEDS, SIZES, numbers, rows
from torchkata import Student, assert_close


def check_normalise(student: Student, x: Array) -> None:
    """Compare one call with the oracle, up to the rounding error of a sum of squares."""
    y = student.call("normalise", x)
    assert_close(y, oracle.normalise(x), dtype=np.float64, scale=0.0, roundings=8 + x.shape[1])


@given(rows())
def test_every_row_is_divided_by_its_length(student: Student, x: Array) -> None:
    """Each row is divided by its Euclidean length."""
    check_normalise(student, x)


@given(rows(), st.integers(0, 5))
def test_rows_of_zeros_stay_zero(student: Student, x: Array, place: int) -> None:
    """A row of zeros stays a row of zeros, without NaN, and the other rows are scaled."""
    x = np.insert(x, min(place, len(x)), 0.0, axis=0)
    check_normalise(student, x)


@given(size=st.integers(0, 3), seed=SEEDS, axis=st.integers(0, 1), other=SIZES)
def test_empty_arrays_keep_their_shape(student: Student, size: int, seed: int, axis: int, other: int) -> None:
    """An array without rows or columns gives an empty array of the same shape; one column gives the elements' signs."""
    check_normalise(student, numbers((size % 2, other) if axis == 0 else (other, size % 2), seed))


@given(rows(power=st.integers(-99, 98)))
def test_huge_and_tiny_rows_are_normalised(student: Student, x: Array) -> None:
    """Rows of huge or tiny numbers, up to 1e100 or down to 1e-100, are also scaled to length one."""
    check_normalise(student, x)


@given(rows())
def test_argument_is_not_modified(student: Student, x: Array) -> None:
    """The argument is not modified."""
    after = student.call(probes.argument_after, x)
    assert_close(after, oracle.argument_after(x), dtype=np.float64, scale=0.0, what="the argument after the call")
