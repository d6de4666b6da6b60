"""Oracle for Linear: its output, its gradients, and statistics of the initial weight."""

import numpy as np
from einops import einsum, rearrange
from jaxtyping import Float
from numpy import ndarray as Array


def forward(weight: Float[Array, "i o"], x: Float[Array, "... i"]) -> Float[Array, "... o"]:
    """Return `x @ weight`."""
    return einsum(x, weight, "... i, i o -> ... o")


def backward(
    weight: Float[Array, "i o"], x: Float[Array, "... i"], grad_y: Float[Array, "... o"]
) -> tuple[Float[Array, "i o"], Float[Array, "... i"]]:
    """Return the gradients of `sum(grad_y * forward(weight, x))` with respect to the weight and to x."""
    rows, grad_rows = rearrange(x, "... i -> (...) i"), rearrange(grad_y, "... o -> (...) o")
    return einsum(rows, grad_rows, "row i, row o -> i o"), einsum(grad_y, weight, "... o, i o -> ... i")


def initial_mean(input_dim: int, output_dim: int) -> float:  # noqa: ARG001  (mistakes use them)
    """Return the mean of the initial weight."""
    return 0.0


def initial_std(input_dim: int, output_dim: int) -> float:  # noqa: ARG001  (mistakes use it)
    """Return the standard deviation of the initial weight."""
    return float(1 / np.sqrt(input_dim))


def initial_kurtosis(
    input_dim: int,  # noqa: ARG001  (mistakes use them)
    output_dim: int,  # noqa: ARG001
    std: float,  # noqa: ARG001
) -> tuple[float, float]:
    """Return the range of the kurtosis, from a truncation at three standard deviations to no truncation."""
    return 2.83, 3.0


def initial_repeats(input_dim: int, output_dim: int) -> float:  # noqa: ARG001  (mistakes use them)
    """Return the largest fraction of weights that may have a duplicate by chance, ignoring the sign."""
    return 0.25
