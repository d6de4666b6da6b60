"""Attention scores, a mean, a product for each head and the causal mask, with numbered axes."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array


def attention_scores(q: Float[Array, "... queries hidden"], k: Float[Array, "... keys hidden"]) -> Array:
    """The product of every query with every key."""
    return np.asarray(q @ np.swapaxes(k, -1, -2))


def attention_scores_backward(
    q: Float[Array, "... queries hidden"], k: Float[Array, "... keys hidden"], grad: Float[Array, "... queries keys"]
) -> tuple[Array, Array]:
    """Gradients of `sum(grad * attention_scores(q, k))` with respect to q and k."""
    return attention_scores(grad, np.swapaxes(k, -1, -2)), attention_scores(
        np.swapaxes(grad, -1, -2), np.swapaxes(q, -1, -2)
    )


def mean_over_hidden(x: Float[Array, "... hidden"]) -> Array:
    """The mean of the last axis."""
    return np.asarray(np.sum(x, axis=-1) / x.shape[-1])


def per_head_linear(x: Float[Array, "... heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    """Cut the last axis into heads, multiply each, join them again."""
    return np.concatenate([head @ w for head in np.split(x, heads, axis=-1)], axis=-1)


def per_head_linear_backward(
    x: Float[Array, "... heads*d_in"], w: Float[Array, "d_in d_out"], heads: int, grad: Float[Array, "... heads*d_out"]
) -> tuple[Array, Array]:
    """Gradients of `sum(grad * per_head_linear(x, w, heads))` with respect to x and w."""
    rows, grads = x.reshape(-1, w.shape[0]), grad.reshape(-1, w.shape[1])
    return per_head_linear(grad, w.T, heads), rows.T @ grads


def heads_fit(size: int, heads: int, d_in: int) -> bool:
    """Whether a last axis of this size is so many heads."""
    return size == heads * d_in


def causal_mask(n: int) -> Bool[Array, "n n"]:
    """Row i is true up to and including column i."""
    return np.tril(np.ones((n, n), dtype=bool))
