"""One step of RMSprop."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def update_average(
    v: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], alpha: float
) -> Float[Array, "*shape"]:
    """Return the running average of the squared gradient, which starts at 0. Before the first step, `v` is None."""
    new: Array = (1 - alpha) * grad**2
    return new if v is None else alpha * v + new


def get_direction(v: Float[Array, "*shape"], grad: Float[Array, "*shape"], eps: float) -> Float[Array, "*shape"]:
    """Return the update divided by -lr."""
    ahead: Array = grad / (np.sqrt(v) + eps)
    return ahead


def step(
    p: Float[Array, "*shape"],
    v: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Return the new parameter and the new average."""
    v = update_average(v, grad, alpha)
    return p - lr * get_direction(v, grad, eps), v
