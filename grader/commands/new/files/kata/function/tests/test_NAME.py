"""Properties of NAME."""

from hypothesis import given
from hypothesis import strategies as st

from reference.NAME import oracle
from torchkata import Student, assert_equal


@given(st.lists(st.integers(-100, 100), max_size=8))
def test_result_is_sum_of_squares(student: Student, numbers: list[int]) -> None:
    """NAME(numbers) is the sum of the squares of the numbers, including negative numbers."""
    assert_equal(student.call("NAME", numbers), oracle.NAME(numbers))


def test_no_numbers_give_zero(student: Student) -> None:
    """NAME([]) is 0."""
    assert_equal(student.call("NAME", []), oracle.NAME([]))
