"""Mistakes in normalising rows."""

import numpy as np
from numpy import ndarray as Array

from torchkata import instead_of
from reference.normalise import oracle


@instead_of(oracle.normalise, "columns are scaled, not rows")
def columns(x: Array) -> Array:
    return oracle.normalise(x.T).T


@instead_of(oracle.normalise, "all rows are divided by the length of the whole array")
def whole(x: Array) -> Array:
    return oracle.normalise(x.reshape(1, -1)).reshape(x.shape)


@instead_of(oracle.normalise, "rows are divided by the square of their length: the square root is missing")
def squared(x: Array) -> Array:
    sums = (x**2).sum(axis=1, keepdims=True)
    return x / np.where(sums > 0, sums, 1)


@instead_of(oracle.normalise, "rows are divided by the sum of absolute values, not by the root of the sum of squares")
def manhattan(x: Array) -> Array:
    sums = abs(x).sum(axis=1, keepdims=True)
    return x / np.where(sums > 0, sums, 1)


@instead_of(oracle.normalise, "rows are divided by their largest element")
def largest(x: Array) -> Array:
    sizes = abs(x).max(axis=1, keepdims=True, initial=0)
    return x / np.where(sizes > 0, sizes, 1)


@instead_of(oracle.normalise, "a row of zeros becomes NaN (0 / 0)")
def nan_for_zero(x: Array) -> Array:
    return np.where(abs(x).max(axis=1, keepdims=True, initial=0) > 0, oracle.normalise(x), np.nan)


@instead_of(oracle.normalise, "a small constant is added to the lengths, so rows of small numbers become too short")
def smoothed(x: Array) -> Array:
    return x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-8)


@instead_of(oracle.normalise, "a row of zeros becomes a unit vector")
def unit_for_zero(x: Array) -> Array:
    unit = np.zeros(x.shape[1])
    unit[:1] = 1
    return np.where(abs(x).max(axis=1, keepdims=True, initial=0) > 0, oracle.normalise(x), unit)


@instead_of(oracle.argument_after, "the argument is modified in place")
def in_place(x: Array) -> Array:
    return oracle.normalise(x)


@instead_of(oracle.normalise, "short rows are treated as rows of zeros and not scaled")
def short_rows_left(x: Array) -> Array:
    return np.where(np.linalg.norm(x, axis=1, keepdims=True) < 1e-12, x, oracle.normalise(x))


@instead_of(oracle.normalise, "rows of zeros are dropped")
def zero_rows_dropped(x: Array) -> Array:
    return oracle.normalise(x[x.any(axis=1)])
