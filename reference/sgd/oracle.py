"""One step of SGD."""

from jaxtyping import Float
from numpy import ndarray as Array


def step(p: Float[Array, "*shape"], grad: Float[Array, "*shape"], lr: float) -> Float[Array, "*shape"]:
    """Return `p − lr · grad`."""
    return p - lr * grad
