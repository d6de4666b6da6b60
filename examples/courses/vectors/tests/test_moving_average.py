"""moving_average: the mean of every window."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array

from reference.moving_average import oracle
from tests.strategies import vectors
from torchkata import Student, assert_close, call

sizes = oracle.sizes  # as it is, also while a mistake stands in for the averages


def check_averages(student: Student, x: Array, window: int) -> None:
    """One call, compared within roundings of what each window shows."""
    yours = student.call(call, "moving_average", "moving_average", x, window)
    scale = np.abs(x).max(initial=0.0) if window > len(x) else sizes(x, window)
    assert_close(yours, oracle.averages(x, window), dtype=np.float64, scale=scale, roundings=8 + window)


@given(x=vectors(least=1), window=st.integers(1, 12))
def test_every_window_has_its_mean(student: Student, x: Array, window: int) -> None:
    """Element i is the mean of x[i : i + window]."""
    check_averages(student, x, min(window, len(x)))


@given(x=vectors())
def test_a_window_of_one_changes_nothing(student: Student, x: Array) -> None:
    """With a window of one the averages are the elements."""
    check_averages(student, x, 1)


@given(x=vectors(), more=st.integers(-1, 3))
def test_only_whole_windows_count(student: Student, x: Array, more: int) -> None:
    """There are n - window + 1 whole windows: one as long as x, and none that is longer."""
    check_averages(student, x, max(len(x) + more, 1))


@given(value=st.floats(-1e6, 1e6), n=st.integers(1, 12), window=st.integers(1, 12))
def test_a_constant_series_stays_constant(student: Student, value: float, n: int, window: int) -> None:
    """The averages of a constant are that constant, at both ends, too."""
    check_averages(student, np.full(n, value), min(window, n))


@given(x=vectors(least=2), place=st.integers(0, 11), window=st.integers(1, 4))
def test_a_huge_element_leaves_no_trace_elsewhere(student: Student, x: Array, place: int, window: int) -> None:
    """A huge element does not spoil the averages of windows that it is not in."""
    x = x.copy()
    x[place % len(x)] = 1e17
    check_averages(student, x, min(window, len(x)))
