"""One step of AdamW (Loshchilov and Hutter, 2019): Adam, and decay apart from the gradient."""

from jaxtyping import Float
from numpy import ndarray as Array

from reference.adam import oracle as adam


def decayed(p: Float[Array, "*shape"], lr: float, weight_decay: float) -> Float[Array, "*shape"]:
    """The parameter shrunk towards 0."""
    return p * (1 - lr * weight_decay)


def step(
    p: Float[Array, "*shape"],
    memory: adam.Memory | None,
    grad: Float[Array, "*shape"],
    lr: float,
    betas: adam.Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Float[Array, "*shape"], adam.Memory]:
    """The new parameter and the new memory, which is None before the first step."""
    return adam.step(decayed(p, lr, weight_decay), memory, grad, lr, betas=betas, eps=eps)
