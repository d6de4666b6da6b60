"""What flows back through `y = x @ w`."""

from einops import einsum, rearrange
from jaxtyping import Float
from numpy import ndarray as Array


def grad_x(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i"]:
    """`grad_y @ wᵀ`."""
    return einsum(grad_y, w, "... o, i o -> ... i")


def grad_w(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    """`xᵀ @ grad_y`, all leading axes taken for rows."""
    rows, grad_rows = rearrange(x, "... i -> (...) i"), rearrange(grad_y, "... o -> (...) o")
    return einsum(rows, grad_rows, "row i, row o -> i o")
