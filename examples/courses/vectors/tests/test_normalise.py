"""normalise: every row to length one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array

from reference.normalise import oracle
from tests.probes import normalise as probes
from tests.strategies import SEEDS, SIZES, numbers, rows
from torchkata import Student, assert_close, call


def check_normalise(student: Student, x: Array) -> None:
    """One call, compared within the rounding of a sum of squares."""
    y = student.call(call, "normalise", "normalise", x)
    assert_close(y, oracle.normalise(x), dtype=np.float64, scale=0.0, roundings=8 + x.shape[1])


@given(rows())
def test_every_row_is_divided_by_its_length(student: Student, x: Array) -> None:
    """Each row is divided by its Euclidean length."""
    check_normalise(student, x)


@given(rows(), st.integers(0, 5))
def test_rows_of_zeros_stay_zero(student: Student, x: Array, place: int) -> None:
    """A row of zeros stays a row of zeros, not NaN, and the other rows are scaled as ever."""
    x = np.insert(x, min(place, len(x)), 0.0, axis=0)
    check_normalise(student, x)


@given(size=st.integers(0, 3), seed=SEEDS, axis=st.integers(0, 1), other=SIZES)
def test_no_rows_and_no_columns(student: Student, size: int, seed: int, axis: int, other: int) -> None:
    """Arrays without rows or columns come back empty, of the same shape; of a single column the signs are left."""
    check_normalise(student, numbers((size % 2, other) if axis == 0 else (other, size % 2), seed))


@given(rows(power=st.integers(-99, 98)))
def test_the_size_of_the_numbers_does_not_matter(student: Student, x: Array) -> None:
    """Numbers of any size whose square is a float64 come to length one, too."""
    check_normalise(student, x)


@given(rows())
def test_the_argument_stays_as_it_was(student: Student, x: Array) -> None:
    """The answer is a new array, and the argument stays as it was."""
    after = student.call(probes.argument_after, x)
    assert_close(after, oracle.argument_after(x), dtype=np.float64, scale=0.0, what="the argument, after the call")
