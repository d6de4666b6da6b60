"""Mistakes with named dimensions."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from reference.named_dimensions import oracle
from torchkata import instead_of


@instead_of(oracle.attention_scores, "the scores are divided by the root of hidden")
def scaled(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


@instead_of(oracle.attention_scores, "keys and queries have changed places: rows are queries, columns are keys")
def keys_first(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return k @ np.swapaxes(q, -1, -2)


@instead_of(oracle.attention_scores, "k.T turns all dimensions round; only the last two should change places")
def all_turned_round(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return np.matmul(q, k.T)


@instead_of(oracle.attention_scores_backward, "no gradient reaches q: it is detached")
def q_detached(
    q: Float[Array, "*leading queries hidden"],
    k: Float[Array, "*leading keys hidden"],
    grad: Float[Array, "*leading queries keys"],
) -> tuple[None, Array]:
    return None, oracle.attention_scores_backward(q, k, grad)[1]


@instead_of(oracle.mean_over_hidden, "hidden is summed, not averaged")
def summed(x: Float[Array, "*leading hidden"]) -> Array:
    return x.sum(axis=-1)


@instead_of(oracle.mean_over_hidden, "hidden is still a dimension, of size 1")
def kept(x: Float[Array, "*leading hidden"]) -> Array:
    return x.mean(axis=-1, keepdims=True)


@instead_of(oracle.mean_over_hidden, "the mean is over all dimensions, not over hidden alone")
def over_everything(x: Float[Array, "*leading hidden"]) -> Array:
    return np.asarray(x.mean())


@instead_of(oracle.mean_over_hidden, "leading dimensions of size 1 are squeezed away")
def squeezed(x: Float[Array, "*leading hidden"]) -> Array:
    return np.squeeze(oracle.mean_over_hidden(x))


@instead_of(oracle.per_head_linear, "the last dimension is read as (d_in heads), not as (heads d_in)")
def interleaved(x: Float[Array, "*leading d_in*heads"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    cut = x.reshape(*x.shape[:-1], w.shape[0], heads)
    return np.einsum("...ih,io->...oh", cut, w).reshape(*x.shape[:-1], heads * w.shape[1])


@instead_of(oracle.per_head_linear, "the heads are joined as (d_out heads), not as (heads d_out)")
def joined_interleaved(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    cut = x.reshape(*x.shape[:-1], heads, w.shape[0]) @ w
    return np.swapaxes(cut, -1, -2).reshape(*x.shape[:-1], heads * w.shape[1])


@instead_of(oracle.per_head_linear, "w is multiplied transposed; its shape is (d_in, d_out)")
def transposed(x: Float[Array, "*leading heads*d"], w: Float[Array, "d d"], heads: int) -> Array:
    cut = x.reshape(*x.shape[:-1], heads, 1, w.shape[0])
    return (cut * w).sum(axis=-1).reshape(*x.shape[:-1], heads * w.shape[0])


@instead_of(oracle.per_head_linear, "the heads are not joined again: they are still a dimension")
def not_joined(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    return x.reshape(*x.shape[:-1], heads, w.shape[0]) @ w


@instead_of(oracle.per_head_linear, "the first head's result stands in the place of all heads")
def first_for_all(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    return np.concatenate([x[..., : w.shape[0]] @ w] * heads, axis=-1)


@instead_of(oracle.per_head_linear_backward, "no gradient reaches w: it is detached")
def w_detached(
    x: Float[Array, "*leading heads*d_in"],
    w: Float[Array, "d_in d_out"],
    heads: int,
    grad: Float[Array, "*leading heads*d_out"],
) -> tuple[Array, None]:
    return oracle.per_head_linear_backward(x, w, heads, grad)[0], None


@instead_of(oracle.heads_fit, "what is left over when the last dimension is cut into heads is dropped without a word")
def rest_dropped(size: int, heads: int, d_in: int) -> bool:
    return size >= heads * d_in


@instead_of(oracle.causal_mask, "a position does not see itself")
def without_itself(n: int) -> Bool[Array, "n n"]:
    return np.tril(np.ones((n, n), dtype=bool), -1)


@instead_of(oracle.causal_mask, "the mask is true where a key must not be seen")
def inverted(n: int) -> Bool[Array, "n n"]:
    return np.triu(np.ones((n, n), dtype=bool), 1)


@instead_of(oracle.causal_mask, "each position sees itself and what comes after it: rows are queries, columns are keys")
def later(n: int) -> Bool[Array, "n n"]:
    return np.triu(np.ones((n, n), dtype=bool))


@instead_of(oracle.causal_mask, "the mask is of ones and zeros, float32, not of True and False")
def ones_and_zeros(n: int) -> Float[Array, "n n"]:
    return np.tril(np.ones((n, n), dtype=np.float32))


@instead_of(oracle.causal_mask, "the mask is what is added to the scores, 0 and -inf, not True and False")
def infinities(n: int) -> Float[Array, "n n"]:
    return np.triu(np.full((n, n), -np.inf, dtype=np.float32), 1)
