"""Properties of NAME."""

from hypothesis import given
from hypothesis import strategies as st

from reference.NAME import oracle
from torchkata import Student, assert_equal, call_methods

SIZES = st.integers(1, 4)
CALLS = st.lists(st.one_of(st.tuples(st.just("push"), st.integers(-9, 9)), st.just(("items",))), max_size=12)


@given(SIZES, CALLS)
def test_items_are_the_newest_ones(student: Student, size: int, calls: list[tuple[str | int, ...]]) -> None:
    """After any calls of push, items() returns the last `size` items, the oldest first."""
    calls = [*calls, ("items",)]
    assert_equal(student.call(call_methods, "NAME.CLASS", [size], calls), oracle.answer_calls(size, calls))


@given(SIZES)
def test_new_buffer_is_empty(student: Student, size: int) -> None:
    """A new buffer has no items."""
    assert_equal(student.call(call_methods, "NAME.CLASS", [size], [("items",)]), [[]])
