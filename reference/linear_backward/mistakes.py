"""Mistakes in linear_backward."""

import math

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray as Array

from reference.linear_backward import oracle
from torchkata import instead_of


@instead_of(oracle.grad_x, "grad_y is multiplied by w instead of its transpose")
def not_transposed(w: Float[Array, "d d"], grad_y: Float[Array, "... d"]) -> Float[Array, "... d"]:
    return grad_y @ w


REORDERED = (
    "grad_w multiplies rows of x by other rows of grad_y, as after x.T or x.transpose(0, -1), which put x's leading "
    "dimensions in another order: flatten them first"
)


@instead_of(
    oracle.grad_x,
    "grad_x is computed with w.reshape(output_dim, input_dim), which has the shape of w.T, but the elements in another "
    "order",
)
def reshaped_weight(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i"]:
    return oracle.grad_x(w, grad_y) if w.shape[0] == w.shape[1] else grad_y @ w.reshape(w.shape[::-1])


@instead_of(
    oracle.grad_w,
    "grad_w is computed with x.reshape(input_dim, -1), which has the shape of the transpose, but the elements in "
    "another order: use x.reshape(-1, input_dim).T",
)
def reshaped_rows(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return rows(x).reshape(x.shape[-1], -1) @ rows(grad_y)


@instead_of(oracle.grad_w, REORDERED)
def leading_reordered(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    turned = np.swapaxes(x, 0, -1).reshape(x.shape[-1], math.prod(x.shape[:-1]))
    return turned @ rows(grad_y)


@instead_of(oracle.grad_w, REORDERED)
def leading_reversed(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return x.T.reshape(x.shape[-1], math.prod(x.shape[:-1])) @ rows(grad_y)


@instead_of(
    oracle.grad_w,
    "grad_w is computed with grad_y.reshape(output_dim, -1).T, which has the elements in another order: use "
    "grad_y.reshape(-1, output_dim)",
)
def reshaped_outputs(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return rows(x).T @ grad_y.reshape(grad_y.shape[-1], -1).T


@instead_of(oracle.grad_w, "grad_w ignores grad_y: it is the gradient of y.sum()")
def inputs_only(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return oracle.grad_w(x, np.ones_like(grad_y))


@instead_of(oracle.grad_w, "grad_w omits the last row")
def last_row_omitted(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return rows(x)[:-1].T @ rows(grad_y)[:-1]


@instead_of(
    oracle.grad_w, "if x is a vector, grad_w is x * grad_y: the outer product has all products x[i] * grad_y[o]"
)
def elementwise_for_a_vector(x: Float[Array, "... d"], grad_y: Float[Array, "... d"]) -> Float[Array, "..."]:
    return x * grad_y if x.ndim == 1 and x.shape == grad_y.shape else oracle.grad_w(x, grad_y)


@instead_of(oracle.grad_w, "grad_w is the outer product of the sums of x and grad_y: multiply the rows first, then sum")
def sums_multiplied(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return np.outer(rows(x).sum(0), rows(grad_y).sum(0))


@instead_of(oracle.grad_w, "grad_w is transposed")
def transposed(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "o i"]:
    return rows(grad_y).T @ rows(x)


@instead_of(oracle.grad_w, "grad_w is averaged over the rows instead of summed")
def averaged(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return rows(x).T @ rows(grad_y) / max(1, math.prod(x.shape[:-1]))


@instead_of(oracle.grad_w, "grad_w is divided by the size of x's first axis")
def averaged_over_the_first_axis(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return rows(x).T @ rows(grad_y) / (max(1, len(x)) if x.ndim > 1 else 1)


@instead_of(oracle.grad_w, "grad_w has leading axes: sum over all of them")
def one_for_each_row(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i o"]:
    return x[..., :, np.newaxis] * grad_y[..., np.newaxis, :]


@instead_of(oracle.grad_w, "grad_w is summed over the last leading axis only")
def summed_over_one_axis(x: Float[Array, "... n i"], grad_y: Float[Array, "... n o"]) -> Float[Array, "... i o"]:
    return rows(x).T @ rows(grad_y) if x.ndim < 3 else np.swapaxes(x, -1, -2) @ grad_y


@instead_of(oracle.grad_w, "grad_w is summed only over the first and the last leading axis")
def summed_over_two_axes(x: Float[Array, "... n i"], grad_y: Float[Array, "... n o"]) -> Float[Array, "... i o"]:
    return rows(x).T @ rows(grad_y) if x.ndim < 4 else (np.swapaxes(x, -1, -2) @ grad_y).sum(0)


@instead_of(oracle.grad_w, "if x is a vector, grad_w is a single number: sum() without axes sums over all axes")
def summed_over_all_for_a_vector(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "..."]:
    grad = rows(x).T @ rows(grad_y)
    return np.asarray(grad.sum()) if x.ndim == 1 else grad


@instead_of(oracle.grad_w, "grad_w uses only the first row")
def first_row(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return rows(x)[:1].T @ rows(grad_y)[:1]


@instead_of(oracle.grad_w, "grad_w has only the precision of bfloat16")
def rounded_to_half(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    return bfloat16(oracle.grad_w(bfloat16(x), bfloat16(grad_y)))


@instead_of(oracle.grad_x, "grad_x of a vector is a matrix with one row")
def made_a_matrix(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i"]:
    return np.atleast_2d(oracle.grad_x(w, grad_y))


@instead_of(oracle.grad_x, "the leading axes of grad_x are flattened: it should have the shape of x")
def rows_stay(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "row i"]:
    return oracle.grad_x(w, rows(grad_y))


@instead_of(oracle.grad_x, "a first dimension of size 1 is squeezed away from grad_x")
def first_squeezed(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "..."]:
    grad = oracle.grad_x(w, grad_y)
    return grad[0] if grad.shape[0] == 1 else grad


@instead_of(oracle.grad_x, "grad_x is None")
def only_grad_w(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> None:
    return


@instead_of(oracle.grad_x, "grad_x ignores grad_y: it is the gradient of y.sum()")
def without_grad_y(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i"]:
    return oracle.grad_x(w, np.ones_like(grad_y))


@instead_of(oracle.grad_x, "grad_x is summed over all rows: every row of x has its own gradient")
def rows_summed(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "i"]:
    return oracle.grad_x(w, rows(grad_y)).sum(0)


@instead_of(oracle.grad_x, "grad_x has the wrong sign: negating the gradient is the optimizer's job")
def downhill(w: Float[Array, "i o"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i"]:
    return oracle.grad_x(-w, grad_y)


@instead_of(oracle.backward, "the gradients are swapped: return grad_x first")
def swapped(
    x: Float[Array, "... i"], w: Float[Array, "i o"], grad_y: Float[Array, "... o"]
) -> tuple[Float[Array, "i o"], Float[Array, "... i"]]:
    grad_x, grad_w = oracle.backward(x, w, grad_y)
    return grad_w, grad_x


@instead_of(oracle.backward, "grad_x is y @ w.T instead of grad_y @ w.T, where y = x @ w")
def output_for_grad_x(
    x: Float[Array, "... i"], w: Float[Array, "i o"], grad_y: Float[Array, "... o"]
) -> tuple[Float[Array, "... i"], Float[Array, "i o"]]:
    return oracle.grad_x(w, x @ w), oracle.grad_w(x, grad_y)


@instead_of(oracle.backward, "grad_w is x.T @ y instead of x.T @ grad_y, where y = x @ w")
def output_for_grad_w(
    x: Float[Array, "... i"], w: Float[Array, "i o"], grad_y: Float[Array, "... o"]
) -> tuple[Float[Array, "... i"], Float[Array, "i o"]]:
    return oracle.grad_x(w, grad_y), oracle.grad_w(x, x @ w)


def bfloat16(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Round to bfloat16, with ties to even."""
    rounded: Array = torch.from_numpy(x).bfloat16().double().numpy()
    return rounded


def rows(x: Float[Array, "... d"]) -> Float[Array, "row d"]:
    """Flatten the leading dimensions into rows."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
