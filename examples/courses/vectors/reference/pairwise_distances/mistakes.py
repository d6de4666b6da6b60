"""Mistakes in pairwise distances."""

import numpy as np
from numpy import ndarray as Array

from torchkata import instead_of
from reference.pairwise_distances import oracle


@instead_of(oracle.distances, "the distances are squared: the square root is missing")
def squared(a: Array, b: Array) -> Array:
    return oracle.distances(a, b) ** 2


@instead_of(oracle.distances, "absolute differences are summed instead of squares (Manhattan distance)")
def manhattan(a: Array, b: Array) -> Array:
    return abs(a[:, np.newaxis] - b).sum(axis=-1)


@instead_of(oracle.distances, "the largest coordinate difference is returned instead of the root of the sum of squares")
def largest(a: Array, b: Array) -> Array:
    return abs(a[:, np.newaxis] - b).max(axis=-1, initial=0)


@instead_of(oracle.distances, "the squares are averaged over the coordinates instead of summed")
def averaged(a: Array, b: Array) -> Array:
    return oracle.distances(a, b) / np.sqrt(a.shape[1])


@instead_of(oracle.distances, "the result is transposed: its rows belong to the points of b")
def turned(a: Array, b: Array) -> Array:
    return oracle.distances(b, a)


@instead_of(oracle.distances, "the distances are between the points of a: b is not used")
def within_a(a: Array, b: Array) -> Array:
    return oracle.distances(a, a)


@instead_of(oracle.distances, "signed differences are summed, so they cancel")
def signed(a: Array, b: Array) -> Array:
    return abs((a[:, np.newaxis] - b).sum(axis=-1))


@instead_of(oracle.distances, "a small constant is added under the root, so equal points have a distance above 0")
def never_zero(a: Array, b: Array) -> Array:
    return np.sqrt(oracle.distances(a, b) ** 2 + 1e-20)


@instead_of(oracle.distances, "axes of size 1 are squeezed out of the result")
def squeezed(a: Array, b: Array) -> Array:
    return oracle.distances(a, b).squeeze()
