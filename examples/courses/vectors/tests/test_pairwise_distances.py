"""pairwise_distances: from each point of one set to each of another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array

from reference.pairwise_distances import oracle
from tests.strategies import SEEDS, SIZES, numbers, two_sets_of_points
from torchkata import Student, assert_close, call

OFFSETS = st.sampled_from([1e6, -1e6, 1e9, 2.0**40])


def check_distances(student: Student, a: Array, b: Array) -> None:
    """One call, compared within roundings of each distance itself."""
    yours = student.call(call, "pairwise_distances", "pairwise_distances", a, b)
    assert_close(yours, oracle.distances(a, b), dtype=np.float64, scale=0.0, roundings=8 + a.shape[1])


@given(two_sets_of_points())
def test_every_pair_has_its_distance(student: Student, points: tuple[Array, Array]) -> None:
    """Element (i, j) is the Euclidean distance from row i of a to row j of b."""
    check_distances(student, *points)


@given(two_sets_of_points())
def test_a_point_is_at_distance_zero_from_itself(student: Student, points: tuple[Array, Array]) -> None:
    """From a set of points to itself the distances are symmetric, and 0 on the diagonal and wherever points coincide."""
    a, _ = points
    a = np.concatenate([a, a[:1]])
    check_distances(student, a, a)


@given(two_sets_of_points(far=OFFSETS))
def test_points_far_from_the_origin_keep_their_distance(student: Student, points: tuple[Array, Array]) -> None:
    """Points close together and far from the origin lose no digits of their distance."""
    check_distances(student, *points)


@given(shape=st.sampled_from([(0, 1, 0), (1, 0, 0), (1, 1, 0), (0, 2, 3), (2, 0, 3), (0, 0, 2), (2, 3, 0)]), seed=SEEDS)
def test_no_points_and_no_coordinates(student: Student, shape: tuple[int, int, int], seed: int) -> None:
    """Without points the answer is empty, of shape (n, m); without coordinates all distances are 0."""
    n, m, d = shape
    check_distances(student, numbers((n, d), seed), numbers((m, d), seed))


@given(n=SIZES, m=SIZES, seed=SEEDS)
def test_on_a_line_it_is_the_absolute_difference(student: Student, n: int, m: int, seed: int) -> None:
    """With one coordinate the distance is the absolute value of the difference."""
    points = numbers((n + m, 1), seed)
    check_distances(student, points[:n].copy(), points[n:].copy())
