"""One step of gradient descent with momentum, as `torch.optim.SGD` has it."""

from jaxtyping import Float
from numpy import ndarray as Array


def memory(
    b: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], momentum: float, dampening: float
) -> Float[Array, "*shape"]:
    """The first gradient whole; later what is left of the memory, and the gradient, damped."""
    return grad if b is None else momentum * b + (1 - dampening) * grad


def direction(
    b: Float[Array, "*shape"], grad: Float[Array, "*shape"], momentum: float, nesterov: bool
) -> Float[Array, "*shape"]:
    """The memory itself, or with Nesterov the gradient and what the next step would take of the memory."""
    return grad + momentum * b if nesterov else b


def step(
    p: Float[Array, "*shape"],
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """The new parameter and the new memory, which is None before the first step."""
    b = memory(b, grad, momentum, dampening)
    return p - lr * direction(b, grad, momentum, nesterov), b
