"""Common mistakes in named_dimensions."""

import numpy as np
from jaxtyping import Bool, Float, Shaped
from numpy import ndarray as Array

from reference.named_dimensions import oracle
from torchkata import instead_of


@instead_of(oracle.attention_scores, "divides the scores by sqrt(hidden)")
def scaled(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


@instead_of(oracle.attention_scores, "divides the scores by hidden, like a mean of the products")
def averaged(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return q @ np.swapaxes(k, -1, -2) / q.shape[-1]


@instead_of(oracle.attention_scores, "applies a softmax to the scores of each query")
def normalized(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    exponentials = np.exp(q @ np.swapaxes(k, -1, -2))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@instead_of(oracle.attention_scores, "returns (keys, queries): rows should be queries and columns keys")
def keys_first(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return k @ np.swapaxes(q, -1, -2)


@instead_of(oracle.attention_scores, "all dimensions of k are reversed, as in k.T: swap only the last two")
def all_turned_round(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return np.matmul(q, k.T)


@instead_of(
    oracle.attention_scores,
    "queries and keys of different leading indices are combined, too: only those of the same index should be",
)
def all_pairs(q: Float[Array, "*leading queries hidden"], k: Float[Array, "*leading keys hidden"]) -> Array:
    return np.inner(q, k)


@instead_of(oracle.attention_scores_backward, "q gets no gradient: is it detached?")
def q_detached(
    q: Float[Array, "*leading queries hidden"],
    k: Float[Array, "*leading keys hidden"],
    grad: Float[Array, "*leading queries keys"],
) -> tuple[None, Array]:
    return None, oracle.attention_scores_backward(q, k, grad)[1]


@instead_of(oracle.mean_over_hidden, "sums over hidden instead of averaging")
def summed(x: Float[Array, "*leading hidden"]) -> Array:
    return x.sum(axis=-1)


@instead_of(
    oracle.mean_over_hidden, "returns the {name} over hidden instead of the mean", name=["max", "min", "median"]
)
def other_reduction(x: Float[Array, "*leading hidden"], name: str) -> Array:
    return np.asarray(getattr(np, name)(x, axis=-1))


@instead_of(oracle.mean_over_hidden, "divides the sum over hidden by the size of the first dimension, not by hidden's")
def over_first_size(x: Float[Array, "*leading hidden"]) -> Array:
    return x.sum(axis=-1) / max(1, x.shape[0])


@instead_of(oracle.mean_over_hidden, "keeps hidden as a dimension of size 1")
def kept(x: Float[Array, "*leading hidden"]) -> Array:
    return x.mean(axis=-1, keepdims=True)


@instead_of(oracle.mean_over_hidden, "averages over all dimensions instead of hidden only")
def over_everything(x: Float[Array, "*leading hidden"]) -> Array:
    return np.asarray(x.mean())


@instead_of(oracle.mean_over_hidden, "squeezes leading dimensions of size 1")
def squeezed(x: Float[Array, "*leading hidden"]) -> Array:
    return np.squeeze(oracle.mean_over_hidden(x))


@instead_of(oracle.per_head_linear, "splits the last dimension as (d_in heads) instead of (heads d_in)")
def interleaved(x: Float[Array, "*leading d_in*heads"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    cut = x.reshape(*x.shape[:-1], w.shape[0], heads)
    return np.einsum("...ih,io->...oh", cut, w).reshape(*x.shape[:-1], heads * w.shape[1])


@instead_of(oracle.per_head_linear, "joins the heads as (d_out heads) instead of (heads d_out)")
def joined_interleaved(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    cut = x.reshape(*x.shape[:-1], heads, w.shape[0]) @ w
    return np.swapaxes(cut, -1, -2).reshape(*x.shape[:-1], heads * w.shape[1])


@instead_of(oracle.per_head_linear, "sums the results of the heads instead of concatenating them")
def heads_summed(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    return (x.reshape(*x.shape[:-1], heads, w.shape[0]) @ w).sum(axis=-2)


@instead_of(oracle.per_head_linear, "returns only the result of the first head")
def first_head(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    return x[..., : w.shape[0]] @ w


@instead_of(oracle.per_head_linear, "multiplies by the transpose of w: w has shape (d_in, d_out)")
def transposed(x: Float[Array, "*leading heads*d"], w: Float[Array, "d d"], heads: int) -> Array:
    cut = x.reshape(*x.shape[:-1], heads, 1, w.shape[0])
    return (cut * w).sum(axis=-1).reshape(*x.shape[:-1], heads * w.shape[0])


@instead_of(oracle.per_head_linear, "returns the heads as a separate dimension instead of concatenating them")
def not_joined(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    return x.reshape(*x.shape[:-1], heads, w.shape[0]) @ w


@instead_of(oracle.per_head_linear, "repeats the first head's result for all heads")
def first_for_all(x: Float[Array, "*leading heads*d_in"], w: Float[Array, "d_in d_out"], heads: int) -> Array:
    return np.concatenate([x[..., : w.shape[0]] @ w] * heads, axis=-1)


@instead_of(oracle.per_head_linear_backward, "w gets no gradient: is it detached?")
def w_detached(
    x: Float[Array, "*leading heads*d_in"],
    w: Float[Array, "d_in d_out"],
    heads: int,
    grad: Float[Array, "*leading heads*d_out"],
) -> tuple[Array, None]:
    return oracle.per_head_linear_backward(x, w, heads, grad)[0], None


@instead_of(oracle.heads_fit, "raises no error if elements are left over after splitting the last dimension into heads")
def rest_dropped(size: int, heads: int, d_in: int) -> bool:
    return size >= heads * d_in


@instead_of(oracle.causal_mask, "excludes the current position: use key <= query")
def without_itself(n: int) -> Bool[Array, "n n"]:
    return np.tril(np.ones((n, n), dtype=bool), -1)


@instead_of(oracle.causal_mask, "the mask is inverted: True should mean that the query may attend to the key")
def inverted(n: int) -> Bool[Array, "n n"]:
    return np.triu(np.ones((n, n), dtype=bool), 1)


@instead_of(
    oracle.causal_mask,
    "the mask is transposed, so each position attends to later ones: rows should be queries and columns keys",
)
def later(n: int) -> Bool[Array, "n n"]:
    return np.triu(np.ones((n, n), dtype=bool))


@instead_of(
    oracle.causal_mask,
    "returns {dtype} ones and zeros instead of True and False",
    dtype=["float32", "int64", "int32"],
)
def ones_and_zeros(n: int, dtype: str) -> Shaped[Array, "n n"]:
    return np.tril(np.ones((n, n), dtype=dtype))


@instead_of(oracle.causal_mask, "returns an additive mask of 0 and -inf instead of True and False")
def infinities(n: int) -> Float[Array, "n n"]:
    return np.triu(np.full((n, n), -np.inf, dtype=np.float32), 1)
