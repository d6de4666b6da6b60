"""One step of AdamW (Loshchilov and Hutter, 2019): Adam with decoupled weight decay."""

from jaxtyping import Float
from numpy import ndarray as Array

from reference.adam import oracle as adam


def shrink(p: Float[Array, "*shape"], lr: float, weight_decay: float) -> Float[Array, "*shape"]:
    """Return the parameter after weight decay."""
    return p * (1 - lr * weight_decay)


def step(
    p: Float[Array, "*shape"],
    state: adam.State | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: adam.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Float[Array, "*shape"], adam.State]:
    """Return the new parameter and the new state."""
    return adam.step(shrink(p, lr, weight_decay), state, grad, lr, betas=betas, eps=eps)
