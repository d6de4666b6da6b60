"""Performs one AdaGrad step and updates its state."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

EPSILON = 1e-5


def step(
    p: Float[Array, "*shape"], g2: Float[Array, "*shape"], grad: Float[Array, "*shape"], lr: float
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Return the new parameter and the new sum of squares."""
    g2 = g2 + grad**2
    return p - lr * grad / np.sqrt(g2 + EPSILON), g2


def get_state(g2: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return the value of `optimizer.state[p]["g2"]`: the sum of squares."""
    return g2
