"""Mistakes in a linear layer."""

from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import linear as oracle


@instead_of(oracle.forward, "the weight is transposed before the product")
def transposed(
    weight: Float[Array, "input_dim output_dim"], x: Float[Array, "*leading input_dim"]
) -> Float[Array, "*leading output_dim"]:
    """Fits square weights only."""
    return x @ weight.T


@instead_of(oracle.initial_std, "the spread at the start is 1 / input_dim, without the root")
def without_root(input_dim: int) -> float:
    """As in the lecture's formula, but for the root."""
    return 1 / input_dim
