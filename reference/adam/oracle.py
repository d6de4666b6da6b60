"""One step of Adam (Kingma and Ba, 2015), with weight decay added to the gradient."""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

Betas: TypeAlias = tuple[float, float]
State: TypeAlias = tuple[Float[Array, "*shape"], Float[Array, "*shape"], int]  # m, v and the number of steps so far


def add_decay(p: Float[Array, "*shape"], grad: Float[Array, "*shape"], weight_decay: float) -> Float[Array, "*shape"]:
    """Add the gradient of `weight_decay / 2 · |p|²`."""
    return grad + weight_decay * p


def update_averages(
    m: Float[Array, "*shape"], v: Float[Array, "*shape"], grad: Float[Array, "*shape"], betas: Betas
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Return the running averages of the gradient and of its square."""
    return betas[0] * m + (1 - betas[0]) * grad, betas[1] * v + (1 - betas[1]) * grad**2


def get_corrections(t: int, betas: Betas) -> tuple[float, float]:
    """Return the total weight of t gradients in each average. Bias correction divides the averages by these weights."""
    return 1 - betas[0] ** t, 1 - betas[1] ** t


def get_direction(m: Float[Array, "*shape"], v: Float[Array, "*shape"], eps: float) -> Float[Array, "*shape"]:
    """Return the update divided by -lr, given the bias-corrected averages."""
    ahead: Array = m / (np.sqrt(v) + eps)
    return ahead


def step(
    p: Float[Array, "*shape"],
    state: State | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Float[Array, "*shape"], State]:
    """Return the new parameter and the new state."""
    m, v, t = state or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = update_averages(m, v, add_decay(p, grad, weight_decay), betas)
    of_m, of_v = get_corrections(t + 1, betas)
    return p - lr * get_direction(m / of_m, v / of_v, eps), (m, v, t + 1)
