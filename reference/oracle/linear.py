"""A linear layer, and what flows back through it."""

import numpy as np
from einops import einsum, rearrange
from jaxtyping import Float
from numpy import ndarray as Array


def forward(weight: Float[Array, "i o"], x: Float[Array, "... i"]) -> Float[Array, "... o"]:
    """`x @ weight`."""
    return einsum(x, weight, "... i, i o -> ... o")


def backward(
    weight: Float[Array, "i o"], x: Float[Array, "... i"], grad_y: Float[Array, "... o"]
) -> tuple[Float[Array, "i o"], Float[Array, "... i"]]:
    """Gradients of `sum(grad_y * forward(weight, x))` with respect to the weight and to x."""
    rows, grad_rows = rearrange(x, "... i -> (...) i"), rearrange(grad_y, "... o -> (...) o")
    return einsum(rows, grad_rows, "row i, row o -> i o"), einsum(grad_y, weight, "... o, i o -> ... i")


def initial_std(input_dim: int) -> float:
    """The standard deviation of the weight at the start."""
    return float(1 / np.sqrt(input_dim))
