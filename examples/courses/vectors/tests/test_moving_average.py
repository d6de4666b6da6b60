"""moving_average: the mean of every window."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array

from reference.moving_average import oracle
from tests.strategies import vectors
from torchkata import Student, assert_close

sizes = oracle.sizes  # never mutated


def check_averages(student: Student, x: Array, window: int) -> None:
    """Compare one call with the oracle, up to the rounding error of each window."""
    yours = student.call("moving_average", x, window)
    scale = np.abs(x).max(initial=0.0) if window > len(x) else sizes(x, window)
    assert_close(yours, oracle.averages(x, window), dtype=np.float64, scale=scale, roundings=8 + window)


@given(x=vectors(least=1), window=st.integers(1, 12))
def test_every_window_is_averaged(student: Student, x: Array, window: int) -> None:
    """Element i is the mean of x[i : i + window]."""
    check_averages(student, x, min(window, len(x)))


@given(x=vectors())
def test_window_of_one_returns_x(student: Student, x: Array) -> None:
    """With a window of 1, the result equals x."""
    check_averages(student, x, 1)


@given(x=vectors(), more=st.integers(-1, 3))
def test_only_full_windows_are_averaged(student: Student, x: Array, more: int) -> None:
    """There are n - window + 1 full windows, and none if the window is longer than x."""
    check_averages(student, x, max(len(x) + more, 1))


@given(value=st.floats(-1e6, 1e6), n=st.integers(1, 12), window=st.integers(1, 12))
def test_constant_series_stays_constant(student: Student, value: float, n: int, window: int) -> None:
    """The averages of a constant series equal the constant, including at both ends."""
    check_averages(student, np.full(n, value), min(window, n))


@given(x=vectors(least=2), place=st.integers(0, 11), window=st.integers(1, 4))
def test_huge_elements_do_not_affect_other_windows(student: Student, x: Array, place: int, window: int) -> None:
    """A huge element does not affect the averages of windows that do not contain it."""
    x = x.copy()
    x[place % len(x)] = 1e17
    check_averages(student, x, min(window, len(x)))
