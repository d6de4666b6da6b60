"""Properties of NAME."""

from hypothesis import given
from hypothesis import strategies as st

from reference.NAME import oracle
from tests.probes import NAME as probes
from torchkata import Student, assert_equal


@given(st.sampled_from(oracle.WRONG))
def test_wrong_functions_are_rejected(student: Student, function: str) -> None:
    """NAME returns False for a function that computes the median wrongly."""
    assert_equal(student.call(probes.run_tests, function), oracle.accepts(function))


@given(st.sampled_from(oracle.RIGHT))
def test_correct_functions_are_accepted(student: Student, function: str) -> None:
    """NAME returns True for a function that computes the median, however it does so."""
    assert_equal(student.call(probes.run_tests, function), oracle.accepts(function))
