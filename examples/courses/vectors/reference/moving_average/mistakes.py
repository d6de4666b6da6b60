"""Mistakes in a moving average."""

import numpy as np
from numpy import ndarray as Array

from torchkata import instead_of
from reference.moving_average import oracle


@instead_of(oracle.averages, "the elements of a window are summed, but not divided by their number")
def sums(x: Array, window: int) -> Array:
    return window * oracle.averages(x, window)


@instead_of(oracle.averages, "the series is padded with zeros, so the result is as long as x")
def padded(x: Array, window: int) -> Array:
    return np.convolve(x, np.full(window, 1 / window), mode="same") if len(x) else x


@instead_of(oracle.averages, "the last window is missing")
def one_window_missing(x: Array, window: int) -> Array:
    return oracle.averages(x, window)[:-1]


@instead_of(oracle.averages, "partial windows at the beginning are also averaged")
def partial_windows(x: Array, window: int) -> Array:
    return np.array([x[max(0, i - window) : i].mean() for i in range(1, len(x) + 1)])


@instead_of(oracle.averages, "the median of each window is taken, not its mean")
def medians(x: Array, window: int) -> Array:
    return np.array([np.median(x[i : i + window]) for i in range(len(x) - window + 1)])


@instead_of(oracle.averages, "the window moves by its own length instead of by one element")
def blocks(x: Array, window: int) -> Array:
    return oracle.averages(x, window)[::window]


@instead_of(oracle.averages, "the sums are divided by window - 1")
def divided_by_one_less(x: Array, window: int) -> Array:
    return oracle.averages(x, window) * (window / np.float64(window - 1))


@instead_of(oracle.averages, "the averages are in reverse order")
def backwards(x: Array, window: int) -> Array:
    return oracle.averages(x, window)[::-1]


@instead_of(oracle.averages, "the averages are rounded down to whole numbers")
def rounded_down(x: Array, window: int) -> Array:
    return np.floor(oracle.averages(x, window))


@instead_of(oracle.averages, "windows wrap around from the end of the series to its beginning")
def around_the_end(x: Array, window: int) -> Array:
    return oracle.averages(np.resize(x, len(x) + window - 1), window) if len(x) else x


@instead_of(oracle.averages, "a window longer than the series is shortened to its length")
def window_shortened(x: Array, window: int) -> Array:
    return oracle.averages(x, min(window, len(x))) if len(x) else np.array([np.nan])
