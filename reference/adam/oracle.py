"""One step of Adam (Kingma and Ba, 2015), with decay that joins the gradient."""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

Betas: TypeAlias = tuple[float, float]
Memory: TypeAlias = tuple[Float[Array, "*shape"], Float[Array, "*shape"], int]  # m, v and the steps so far


def decayed(p: Float[Array, "*shape"], grad: Float[Array, "*shape"], weight_decay: float) -> Float[Array, "*shape"]:
    """The gradient with that of `weight_decay / 2 · |p|²` added."""
    return grad + weight_decay * p


def averages(
    m: Float[Array, "*shape"], v: Float[Array, "*shape"], grad: Float[Array, "*shape"], betas: Betas
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """The running averages of the gradient and of its square."""
    return betas[0] * m + (1 - betas[0]) * grad, betas[1] * v + (1 - betas[1]) * grad**2


def corrections(t: int, betas: Betas) -> tuple[float, float]:
    """The share of t gradients in each average: the rest is still the 0 that it started from."""
    return 1 - betas[0] ** t, 1 - betas[1] ** t


def direction(m: Float[Array, "*shape"], v: Float[Array, "*shape"], eps: float) -> Float[Array, "*shape"]:
    """The corrected average of the gradient over the root of the other."""
    ahead: Array = m / (np.sqrt(v) + eps)
    return ahead


def step(
    p: Float[Array, "*shape"],
    memory: Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Float[Array, "*shape"], Memory]:
    """The new parameter and the new memory, which is None before the first step."""
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = averages(m, v, decayed(p, grad, weight_decay), betas)
    of_m, of_v = corrections(t + 1, betas)
    return p - lr * direction(m / of_m, v / of_v, eps), (m, v, t + 1)
