"""Properties of NAME."""

from hypothesis import given
from hypothesis import strategies as st

from reference.NAME import oracle
from torchkata import Student, assert_equal, assert_number

POINTS = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 9)), min_size=2, max_size=6)  # a mean differs from a sum
ROUNDING = 1e-9  # relative: correct code may add in another order


@given(POINTS, st.integers(1, 5), st.integers(1, 20))
def test_slope_follows_the_gradient(
    student: Student, points: list[tuple[int, int]], hundredths: int, steps: int
) -> None:
    """After any number of steps, the slope is that of gradient descent on the mean squared error."""
    xs, ys = ([float(value) for value in values] for values in zip(*points, strict=True))
    rate = hundredths / 100
    yours = student.call("NAME", xs, ys, rate, steps)
    assert_number(yours, oracle.NAME(xs, ys, rate, steps), relative=ROUNDING, what="slope")


@given(POINTS)
def test_slope_is_zero_without_steps(student: Student, points: list[tuple[int, int]]) -> None:
    """Without steps, the slope is 0.0."""
    xs, ys = ([float(value) for value in values] for values in zip(*points, strict=True))
    assert_equal(student.call("NAME", xs, ys, 0.1, 0), 0.0)
