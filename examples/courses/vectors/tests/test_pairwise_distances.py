"""pairwise_distances: distances between two sets of points."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array

from reference.pairwise_distances import oracle
from tests.strategies import SEEDS, SIZES, numbers, two_sets_of_points
from torchkata import Student, assert_close

OFFSETS = st.sampled_from([1e6, -1e6, 1e9, 2.0**40])


def check_distances(student: Student, a: Array, b: Array) -> None:
    """Compare one call with the oracle, up to the rounding error of each distance."""
    yours = student.call("pairwise_distances", a, b)
    assert_close(yours, oracle.distances(a, b), dtype=np.float64, scale=0.0, roundings=8 + a.shape[1])


@given(two_sets_of_points())
def test_every_pair_is_measured(student: Student, points: tuple[Array, Array]) -> None:
    """Element (i, j) is the Euclidean distance from row i of a to row j of b."""
    check_distances(student, *points)


@given(two_sets_of_points())
def test_distance_to_itself_is_zero(student: Student, points: tuple[Array, Array]) -> None:
    """Distances from a set of points to itself are symmetric, and 0 on the diagonal and between equal points."""
    a, _ = points
    a = np.concatenate([a, a[:1]])
    check_distances(student, a, a)


@given(two_sets_of_points(far=OFFSETS))
def test_distances_of_distant_points_are_accurate(student: Student, points: tuple[Array, Array]) -> None:
    """Distances between points close together and far from the origin are accurate."""
    check_distances(student, *points)


@given(shape=st.sampled_from([(0, 1, 0), (1, 0, 0), (1, 1, 0), (0, 2, 3), (2, 0, 3), (0, 0, 2), (2, 3, 0)]), seed=SEEDS)
def test_empty_arrays_are_accepted(student: Student, shape: tuple[int, int, int], seed: int) -> None:
    """If n or m is 0, the result is an empty array of shape (n, m); if d is 0, all distances are 0."""
    n, m, d = shape
    check_distances(student, numbers((n, d), seed), numbers((m, d), seed))


@given(n=SIZES, m=SIZES, seed=SEEDS)
def test_one_dimension_gives_absolute_difference(student: Student, n: int, m: int, seed: int) -> None:
    """In one dimension, the distance is the absolute difference."""
    points = numbers((n + m, 1), seed)
    check_distances(student, points[:n].copy(), points[n:].copy())
