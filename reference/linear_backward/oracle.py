"""Oracle for linear_backward."""

from einops import einsum, rearrange
from jaxtyping import Float
from numpy import ndarray as Array


def backward(
    x: Float[Array, "... i"], w: Float[Array, "i o"], grad_y: Float[Array, "... o"]
) -> tuple[Float[Array, "... i"], Float[Array, "i o"]]:
    """Return the gradients of `sum(grad_y * (x @ w))` with respect to x and to w."""
    return grad_x(w, grad_y), grad_w(x, grad_y)


def grad_x(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i"]:
    """Return `grad_y @ wᵀ`."""
    return einsum(grad_y, w, "... o, i o -> ... i")


def grad_w(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    """Return `xᵀ @ grad_y`, with the leading dimensions flattened into rows."""
    rows, grad_rows = rearrange(x, "... i -> (...) i"), rearrange(grad_y, "... o -> (...) o")
    return einsum(rows, grad_rows, "row i, row o -> i o")
