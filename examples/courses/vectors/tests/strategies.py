"""Strategies that draw a shape and a seed instead of elements: this is fast, and failures shrink to small shapes."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from numpy import ndarray as Array

SIZES = st.integers(0, 6)
SEEDS = st.integers(0, 2**32 - 1)


def numbers(shape: tuple[int, ...], seed: int, power: int = 0) -> Array:
    """Return normally distributed numbers times a power of ten; an even seed gives multiples of 1/8, to get ties."""
    draws = np.random.default_rng(seed).normal(scale=2.0, size=shape)
    return (draws if seed % 2 else np.round(draws * 8) / 8) * 10.0**power


def vectors(least: int = 0) -> SearchStrategy[Array]:
    """Draw vectors with at least `least` elements."""
    return st.builds(lambda size, seed: numbers((size,), seed), st.integers(least, 12), SEEDS)


def rows(power: SearchStrategy[int] = st.just(0)) -> SearchStrategy[Array]:
    """Draw matrices of any size, including empty matrices."""
    return st.builds(lambda n, d, seed, p: numbers((n, d), seed, p), SIZES, SIZES, SEEDS, power)


def two_sets_of_points(far: SearchStrategy[float] = st.just(0.0)) -> SearchStrategy[tuple[Array, Array]]:
    """Draw two sets of points shifted by `far` from the origin, with one pair of points that almost coincide."""

    def build(n: int, m: int, d: int, seed: int, offset: float) -> tuple[Array, Array]:
        points = numbers((n + m, d), seed) + offset
        if n and m:
            points[-1] = points[0] * (1 + 2**-20)  # almost equal points reveal rounding errors
        return points[:n].copy(), points[n:].copy()

    return st.builds(build, SIZES, SIZES, SIZES, SEEDS, far)
