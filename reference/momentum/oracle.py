"""One step of SGD with momentum, as in `torch.optim.SGD`."""

from jaxtyping import Float
from numpy import ndarray as Array


def update_buffer(
    b: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], momentum: float, dampening: float
) -> Float[Array, "*shape"]:
    """Return the new momentum buffer. Before the first step, `b` is None."""
    return grad if b is None else momentum * b + (1 - dampening) * grad


def get_direction(
    b: Float[Array, "*shape"], grad: Float[Array, "*shape"], momentum: float, nesterov: bool
) -> Float[Array, "*shape"]:
    """Return the update divided by -lr."""
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
    """Return the new parameter and the new buffer."""
    b = update_buffer(b, grad, momentum, dampening)
    return p - lr * get_direction(b, grad, momentum, nesterov), b
