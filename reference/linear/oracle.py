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


def initial_mean(input_dim: int, output_dim: int) -> float:  # noqa: ARG001  (whatever the sizes)
    """The mean of the weight at the start."""
    return 0.0


def initial_std(input_dim: int, output_dim: int) -> float:  # noqa: ARG001  (whatever the output's size)
    """The standard deviation of the weight at the start."""
    return float(1 / np.sqrt(input_dim))


def initial_kurtosis(input_dim: int, output_dim: int) -> tuple[float, float]:  # noqa: ARG001  (whatever the sizes)
    """Fourth moment of the start over the square of its variance: from a normal's cut off at three to a whole one's."""
    return 2.83, 3.0


def initial_repeats(input_dim: int, output_dim: int) -> float:  # noqa: ARG001  (whatever the sizes)
    """The largest share of weights at the start that may come again, with their sign or the other, by chance."""
    return 0.25
