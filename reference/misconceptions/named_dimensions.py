"""Mistakes with named dimensions."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import named_dimensions as oracle


@instead_of(oracle.attention_scores, "the scores are divided by the root of hidden")
def scaled(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    """As attention does next, and this function does not yet."""
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


@instead_of(oracle.attention_scores, "keys and queries have changed places: rows are queries, columns are keys")
def keys_first(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    """The transpose."""
    return k @ np.swapaxes(q, -1, -2)


@instead_of(oracle.mean_over_hidden, "hidden is summed, not averaged")
def summed(x: Float[Array, "*leading hidden"]) -> Array:
    """As in the lecture's example."""
    return x.sum(axis=-1)


@instead_of(oracle.mean_over_hidden, "hidden is still a dimension, of size 1")
def kept(x: Float[Array, "*leading hidden"]) -> Array:
    """As with keepdim."""
    return x.mean(axis=-1, keepdims=True)


@instead_of(oracle.per_head_linear, "the last dimension is read as (d_in heads), not as (heads d_in)")
def interleaved(x: Float[Array, "*leading d_in*heads"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    """Every `heads`-th element belongs to one head."""
    cut = x.reshape(*x.shape[:-1], w.shape[0], heads)
    return np.einsum("...ih,io->...oh", cut, w).reshape(*x.shape[:-1], heads * w.shape[1])


@instead_of(oracle.per_head_linear, "the heads are joined as (d_out heads), not as (heads d_out)")
def joined_interleaved(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    """Cut rightly, joined the other way round."""
    cut = x.reshape(*x.shape[:-1], heads, w.shape[0]) @ w
    return np.swapaxes(cut, -1, -2).reshape(*x.shape[:-1], heads * w.shape[1])


@instead_of(oracle.causal_mask, "a position does not see itself")
def without_itself(n: int) -> Bool[Array, "n n"]:
    """Strictly before."""
    return np.tril(np.ones((n, n), dtype=bool), -1)


@instead_of(oracle.causal_mask, "the mask is true where a key must not be seen")
def inverted(n: int) -> Bool[Array, "n n"]:
    """True for what is masked out, as in nn.Transformer."""
    return np.triu(np.ones((n, n), dtype=bool), 1)


@instead_of(oracle.causal_mask, "each position sees itself and what comes after it: rows are queries, columns are keys")
def later(n: int) -> Bool[Array, "n n"]:
    """The transpose."""
    return np.triu(np.ones((n, n), dtype=bool))
