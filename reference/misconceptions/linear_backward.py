"""Mistakes in the backward pass of a linear layer."""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import linear_backward as oracle


@instead_of(oracle.grad_x, "grad_y is multiplied by w, not by its transpose")
def not_transposed(w: Float[Array, "d d"], grad_y: Float[Array, "... d"]) -> Float[Array, "... d"]:
    """Fits square weights only."""
    return grad_y @ w


@instead_of(oracle.grad_w, "the gradient of w comes out transposed")
def transposed(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "o i"]:
    """As for the weight of nn.Linear."""
    return rows(grad_y).T @ rows(x)


@instead_of(oracle.grad_w, "the gradient of w is averaged over the rows, not summed")
def averaged(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    """A mean belongs into the loss."""
    return rows(x).T @ rows(grad_y) / max(1, math.prod(x.shape[:-1]))


@instead_of(oracle.grad_w, "the gradient of w keeps its leading axes; it is summed over all of them")
def one_for_each_row(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "... i o"]:
    """An outer product for each row."""
    return x[..., :, np.newaxis] * grad_y[..., np.newaxis, :]


@instead_of(oracle.grad_w, "the gradient of w is summed over the last leading axis only")
def summed_over_one_axis(x: Float[Array, "... n i"], grad_y: Float[Array, "... n o"]) -> Float[Array, "... i o"]:
    """A batched product keeps what is before the last two axes."""
    return rows(x).T @ rows(grad_y) if x.ndim < 3 else np.swapaxes(x, -1, -2) @ grad_y


@instead_of(oracle.grad_w, "the gradient of w is that of the first row alone")
def first_row(x: Float[Array, "... i"], grad_y: Float[Array, "... o"]) -> Float[Array, "i o"]:
    """The others have their say, too."""
    return rows(x)[:1].T @ rows(grad_y)[:1]


def rows(x: Float[Array, "... d"]) -> Float[Array, "row d"]:
    """All leading axes as one."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
