"""Oracle for attention in float64."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array


def scores(q: Float[Array, "... queries d"], k: Float[Array, "... keys d"]) -> Array:
    """Return the dot products of queries and keys, divided by √d."""
    return np.asarray(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))


def weights(
    q: Float[Array, "... queries d"], k: Float[Array, "... keys d"], mask: Bool[Array, "queries keys"] | None
) -> Array:
    """Return the softmax of the scores over the keys that the mask allows, or 0 for a query without any such key."""
    return softmax(scores(q, k), mask)


def softmax(scores: Float[Array, "... queries keys"], mask: Bool[Array, "queries keys"] | None) -> Array:
    """Return the softmax over the last dimension, as if elements that the mask forbids did not exist."""
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    shifted = np.where(allowed, scores - np.where(np.isfinite(largest), largest, 0), -np.inf)
    shares = np.exp(shifted)
    sums = shares.sum(axis=-1, keepdims=True)
    return np.asarray(shares / np.where(sums == 0, 1, sums))


def attention(
    q: Float[Array, "... queries d"],
    k: Float[Array, "... keys d"],
    v: Float[Array, "... keys d_v"],
    mask: Bool[Array, "queries keys"] | None,
) -> Array:
    """Return the weighted means of the values."""
    return np.asarray(weights(q, k, mask) @ v)


def multi_head_attention(
    q: Float[Array, "... queries heads*d"],
    k: Float[Array, "... keys heads*d"],
    v: Float[Array, "... keys heads*d_v"],
    heads: int,
    mask: Bool[Array, "queries keys"] | None,
) -> Array:
    """Cut the last dimension into equal parts, and concatenate their results."""
    parts = zip(*(np.split(x, heads, axis=-1) for x in (q, k, v)), strict=True)
    return np.concatenate([attention(q, k, v, mask) for q, k, v in parts], axis=-1)


def gradients(
    weights: Float[Array, "... queries keys"],
    q: Float[Array, "... queries d"],
    k: Float[Array, "... keys d"],
    v: Float[Array, "... keys d_v"],
    grad: Float[Array, "... queries d_v"],
    sign: int = -1,
) -> dict[str, Array]:
    """Return the gradients of `sum(grad * attention(q, k, v, mask))`.

    With absolute values and `sign` 1, the result is the sum of the absolute values of all terms, for the tolerance.
    """
    slopes = grad @ np.swapaxes(v, -1, -2)
    slopes = weights * (slopes + sign * np.sum(weights * slopes, axis=-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return {
        "q": slopes @ k,
        "k": np.swapaxes(slopes, -1, -2) @ q,
        "v": np.swapaxes(weights, -1, -2) @ grad,
    }
