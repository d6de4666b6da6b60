"""Oracle for named_dimensions that uses numbered dimensions."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array


def attention_scores(q: Float[Array, "... queries hidden"], k: Float[Array, "... keys hidden"]) -> Array:
    """Return the dot product of each query with each key."""
    return np.asarray(q @ np.swapaxes(k, -1, -2))


def attention_scores_backward(
    q: Float[Array, "... queries hidden"], k: Float[Array, "... keys hidden"], grad: Float[Array, "... queries keys"]
) -> tuple[Array, Array]:
    """Return the gradients of `sum(grad * attention_scores(q, k))` with respect to q and k."""
    return attention_scores(grad, np.swapaxes(k, -1, -2)), attention_scores(
        np.swapaxes(grad, -1, -2), np.swapaxes(q, -1, -2)
    )


def mean_over_hidden(x: Float[Array, "... hidden"]) -> Array:
    """Return the mean over the last dimension."""
    return np.asarray(np.sum(x, axis=-1) / x.shape[-1])


def per_head_linear(x: Float[Array, "... heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    """Split the last dimension into heads, multiply each head by w, and concatenate the results."""
    return np.concatenate([head @ w for head in np.split(x, heads, axis=-1)], axis=-1)


def per_head_linear_backward(
    x: Float[Array, "... heads*d_in"], w: Float[Array, "d_in d_out"], heads: int, grad: Float[Array, "... heads*d_out"]
) -> tuple[Array, Array]:
    """Return the gradients of `sum(grad * per_head_linear(x, w, heads))` with respect to x and w."""
    rows, grads = x.reshape(-1, w.shape[0]), grad.reshape(-1, w.shape[1])
    return per_head_linear(grad, w.T, heads), rows.T @ grads


def heads_fit(size: int, heads: int, d_in: int) -> bool:
    """Return True if a dimension of the given size can be split into `heads` heads of size d_in."""
    return size == heads * d_in


def causal_mask(n: int) -> Bool[Array, "n n"]:
    """Return a mask whose row i is True up to and including column i."""
    return np.tril(np.ones((n, n), dtype=bool))
