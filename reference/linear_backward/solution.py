"""Reference solution for linear_backward."""

from jaxtyping import Float
from torch import Tensor


def linear_backward(
    x: Float[Tensor, "... input_dim"], w: Float[Tensor, "input_dim output_dim"], grad_y: Float[Tensor, "... output_dim"]
) -> tuple[Float[Tensor, "... input_dim"], Float[Tensor, "input_dim output_dim"]]:
    """Flatten the leading dimensions into rows to compute grad_w."""
    input_dim, output_dim = w.shape
    count = x.numel() // input_dim
    rows, grad_rows = x.reshape(count, input_dim), grad_y.reshape(count, output_dim)
    return grad_y @ w.T, rows.T @ grad_rows
