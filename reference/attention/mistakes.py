"""Common mistakes in attention."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from reference.attention import oracle
from torchkata import instead_of

Mask = Bool[Array, "queries keys"] | None


def split(x: Float[Array, "... tokens heads*d"], heads: int) -> Array:
    """Return the heads as a dimension before the tokens."""
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads), -2, -3)


def join(x: Float[Array, "... heads tokens d"]) -> Array:
    """Concatenate the heads."""
    return np.swapaxes(x, -2, -3).reshape(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])


def attend(parts: Iterable[Array], mask: Mask) -> Array:
    """Return the attention of queries, keys and values."""
    q, k, v = parts
    return oracle.attention(q, k, v, mask)


def round_to(x: Array, bits: int) -> Array:
    """Round to a number of significant bits."""
    fractions, powers = np.frexp(x)
    return np.asarray(np.ldexp(np.round(fractions * 2**bits), powers - bits))


@instead_of(oracle.weights, "does not divide the scores by √d")
def unscaled(q: Array, k: Array, mask: Mask) -> Array:
    return oracle.weights(q * np.sqrt(q.shape[-1]), k, mask)


@instead_of(oracle.weights, "divides the scores by d instead of √d")
def divided_by_d(q: Array, k: Array, mask: Mask) -> Array:
    return oracle.weights(q / np.sqrt(q.shape[-1]), k, mask)


@instead_of(oracle.weights, "divides the scores by the root of the number of keys instead of √d")
def divided_by_keys(q: Array, k: Array, mask: Mask) -> Array:
    return oracle.weights(q * np.sqrt(q.shape[-1] / k.shape[-2]), k, mask)


BY_D_V = "divides the scores by √d_v instead of √d"


def stretch(q: Array, v: Array) -> Array:
    """Return queries whose scores are divided by √d_v."""
    return np.asarray(q * np.sqrt(q.shape[-1] / v.shape[-1]))


@instead_of(oracle.attention, BY_D_V)
def divided_by_d_v(q: Array, k: Array, v: Array, mask: Mask) -> Array:
    return oracle.attention(stretch(q, v), k, v, mask)


@instead_of(oracle.gradients, BY_D_V)
def divided_by_d_v_too(weights: Array, q: Array, k: Array, v: Array, grad: Array, sign: int = -1) -> dict[str, Array]:
    other = stretch(q, v)
    found = oracle.gradients(oracle.softmax(oracle.scores(other, k), weights > 0), other, k, v, grad, sign)
    return {**found, "q": stretch(found["q"], v)}


@instead_of(oracle.weights, "the scores have the inputs' precision: convert q and k to float32 first")
def rounded_scores(q: Array, k: Array, mask: Mask) -> Array:
    bits = 8 if all(np.array_equal(x, round_to(x, 8)) for x in (q, k)) else 11  # bfloat16 or float16
    products = round_to(q @ np.swapaxes(k, -1, -2), bits)
    return oracle.softmax(round_to(products / np.sqrt(q.shape[-1]), bits), mask)


@instead_of(oracle.weights, "q and k are multiplied in the inputs' precision: convert them to float32 first")
def rounded_products(q: Array, k: Array, mask: Mask) -> Array:
    bits = 8 if all(np.array_equal(x, round_to(x, 8)) for x in (q, k)) else 11  # bfloat16 or float16
    return oracle.softmax(round_to(q @ np.swapaxes(k, -1, -2), bits) / np.sqrt(q.shape[-1]), mask)


@instead_of(oracle.softmax, "the softmax runs over the queries instead of the keys")
def over_queries(scores: Array, mask: Mask) -> Array:
    turned = oracle.softmax(np.swapaxes(scores, -1, -2), None if mask is None else mask.T)
    return np.swapaxes(turned, -1, -2)


@instead_of(
    oracle.softmax,
    "the softmax runs over dimension 1, which is that of the keys only without leading dimensions: use -1",
)
def over_dimension_one(scores: Array, mask: Mask) -> Array:
    if scores.ndim == 2:
        return oracle.softmax(scores, mask)
    allowed = None if mask is None else np.swapaxes(np.broadcast_to(mask, scores.shape), 1, -1)
    return np.swapaxes(oracle.softmax(np.swapaxes(scores, 1, -1), allowed), 1, -1)


def divide_by_sum(shares: Array, mask: Mask) -> Array:
    """Divide shares by their sum, which may be 0 or infinite; only a query that may attend to no key gets 0."""
    with np.errstate(all="ignore"):
        shares = shares if mask is None else shares * mask
        parts = np.asarray(shares / shares.sum(axis=-1, keepdims=True))
        return parts if mask is None else np.where(mask.any(axis=-1, keepdims=True), parts, 0)


@instead_of(oracle.softmax, "exp overflows or underflows: subtract the largest score of each query first")
def nothing_subtracted(scores: Array, mask: Mask) -> Array:
    with np.errstate(all="ignore"):
        return divide_by_sum(np.exp(scores), mask)


@instead_of(oracle.softmax, "subtracts the largest of all scores: each query needs its own largest score")
def largest_of_all(scores: Array, mask: Mask) -> Array:
    return divide_by_sum(np.exp(scores - scores.max(initial=-np.inf)), mask)


@instead_of(oracle.softmax, "subtracts the largest score even if its key is masked, so all other weights can become 0")
def largest_is_masked(scores: Array, mask: Mask) -> Array:
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True)) * (True if mask is None else mask)
    sums = shares.sum(axis=-1, keepdims=True)
    return np.asarray(shares / np.where(sums == 0, 1, sums))


@instead_of(oracle.softmax, "masked scores become {low:g}, but other scores may be as small", low=[-1e3, -1e4])
def filled(scores: Array, mask: Mask, low: float) -> Array:
    shares = oracle.softmax(scores if mask is None else np.where(mask, scores, low), None)
    return shares if mask is None else shares * mask.any(axis=-1, keepdims=True)


@instead_of(oracle.softmax, "a finite number is subtracted from masked scores, which may be that much larger")
def lowered(scores: Array, mask: Mask) -> Array:
    shares = oracle.softmax(scores if mask is None else scores - 1e4 * ~mask, None)
    return shares if mask is None else shares * mask.any(axis=-1, keepdims=True)


@instead_of(oracle.softmax, "ignores the mask")
def mask_ignored(scores: Array, mask: Mask) -> Array:
    return oracle.softmax(scores, None)


@instead_of(oracle.softmax, "the mask is inverted: True means that the query may attend to the key")
def inverted(scores: Array, mask: Mask) -> Array:
    return oracle.softmax(scores, None if mask is None else ~mask)


@instead_of(oracle.softmax, "masked scores become 0, whose weight is not 0: exp(0) is 1")
def masked_to_zero(scores: Array, mask: Mask) -> Array:
    return oracle.softmax(scores if mask is None else scores * mask, None)


@instead_of(oracle.softmax, "sets weights to 0 after the softmax, so the others no longer sum to 1")
def masked_afterwards(scores: Array, mask: Mask) -> Array:
    shares = oracle.softmax(scores, None)
    return shares if mask is None else shares * mask


@instead_of(oracle.softmax, "also forbids keys that come after the query, whatever the mask says")
def always_causal(scores: Array, mask: Mask) -> Array:
    causal = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    return oracle.softmax(scores, causal if mask is None else causal & mask)


@instead_of(oracle.softmax, "the result of a query that may attend to no key is NaN instead of 0")
def nan_for_nothing(scores: Array, mask: Mask) -> Array:
    shares = oracle.softmax(scores, mask)
    return np.where(shares.sum(axis=-1, keepdims=True) == 0, np.nan, shares)


@instead_of(oracle.softmax, "a query that may attend to no key gets the mean of all values instead of 0")
def mean_for_nothing(scores: Array, mask: Mask) -> Array:
    shares = oracle.softmax(scores, mask)
    return np.where(shares.sum(axis=-1, keepdims=True) == 0, 1 / scores.shape[-1], shares)


@instead_of(oracle.gradients, "q and k get no gradient: are the weights detached?")
def weights_detached(
    weights: Array, q: Array, k: Array, v: Array, grad: Array, sign: int = -1
) -> dict[str, Array | None]:
    return {**oracle.gradients(weights, q, k, v, grad, sign), "q": None, "k": None}


@instead_of(oracle.multi_head_attention, "splits the last dimension as (d heads) instead of (heads d)")
def interleaved(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    y = np.empty((*q.shape[:-1], v.shape[-1]))
    for head in range(heads):
        y[..., head::heads] = attend((x[..., head::heads] for x in (q, k, v)), mask)
    return y


@instead_of(
    oracle.multi_head_attention,
    "splits the last dimension as (d heads) instead of (heads d), but joins the heads as (heads d)",
)
def split_interleaved(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    parts = ([x[..., head::heads] for x in (q, k, v)] for head in range(heads))
    return np.concatenate([attend(each, mask) for each in parts], axis=-1)


@instead_of(oracle.multi_head_attention, "joins the heads as (d heads) instead of (heads d)")
def joined_interleaved(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    y = attend((split(x, heads) for x in (q, k, v)), mask)
    return np.moveaxis(y, -3, -1).reshape(*q.shape[:-1], v.shape[-1])


@instead_of(oracle.multi_head_attention, "joins the heads without moving them behind the tokens")
def joined_by_reshape(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    y = attend((split(x, heads) for x in (q, k, v)), mask)
    return y.reshape(*q.shape[:-1], v.shape[-1])


@instead_of(
    oracle.multi_head_attention, "splits the tokens, not the last dimension, among the heads: transpose after reshape"
)
def split_by_reshape(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    parts = (x.reshape(*x.shape[:-2], heads, x.shape[-2], x.shape[-1] // heads) for x in (q, k, v))
    return join(attend(parts, mask))


@instead_of(
    oracle.multi_head_attention,
    "splits and joins the heads by reshape alone: transpose after the split and before the join",
)
def only_reshaped(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    parts = (x.reshape(*x.shape[:-2], heads, x.shape[-2], x.shape[-1] // heads) for x in (q, k, v))
    return attend(parts, mask).reshape(*q.shape[:-1], v.shape[-1])


@instead_of(oracle.multi_head_attention, "divides by the root of the full width instead of the width of one head")
def full_width(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    return oracle.multi_head_attention(q / np.sqrt(heads), k, v, heads, mask)


@instead_of(oracle.multi_head_attention, "attends once with all heads together instead of with each head")
def one_head(q: Array, k: Array, v: Array, heads: int, mask: Mask) -> Array:
    return oracle.attention(q, k, v, mask)
