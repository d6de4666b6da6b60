"""Mistakes in measuring distances."""

import numpy as np
from numpy import ndarray as Array

from torchkata import instead_of
from reference.pairwise_distances import oracle


@instead_of(oracle.distances, "the distances are squared: the root is missing")
def squared(a: Array, b: Array) -> Array:
    return oracle.distances(a, b) ** 2


@instead_of(oracle.distances, "absolute differences are summed, not squares under a root")
def manhattan(a: Array, b: Array) -> Array:
    return abs(a[:, np.newaxis] - b).sum(axis=-1)


@instead_of(oracle.distances, "the largest difference of a coordinate is taken, not the root of the sum of squares")
def largest(a: Array, b: Array) -> Array:
    return abs(a[:, np.newaxis] - b).max(axis=-1, initial=0)


@instead_of(oracle.distances, "the squares are averaged over the coordinates, not summed")
def averaged(a: Array, b: Array) -> Array:
    return oracle.distances(a, b) / np.sqrt(a.shape[1])


@instead_of(oracle.distances, "the answer is transposed: its rows are the points of b")
def turned(a: Array, b: Array) -> Array:
    return oracle.distances(b, a)


@instead_of(oracle.distances, "the distances are those within a: b is not looked at")
def within_a(a: Array, b: Array) -> Array:
    return oracle.distances(a, a)


@instead_of(oracle.distances, "the differences themselves are summed, so that they cancel each other")
def signed(a: Array, b: Array) -> Array:
    return abs((a[:, np.newaxis] - b).sum(axis=-1))


@instead_of(oracle.distances, "a small constant is added under the root: points that coincide are not at distance 0")
def never_zero(a: Array, b: Array) -> Array:
    return np.sqrt(oracle.distances(a, b) ** 2 + 1e-20)


@instead_of(oracle.distances, "axes of size 1 are squeezed out of the answer")
def squeezed(a: Array, b: Array) -> Array:
    return oracle.distances(a, b).squeeze()
