"""Oracle for kv_cache, which recomputes everything for each token."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

Piece = tuple[Array, Array, Array]  # queries, keys and values of some new tokens


def attend(pieces: Sequence[Piece]) -> Array:
    """Return the outputs of causal attention over all tokens, which arrive in pieces."""
    q, k, v = (np.concatenate(parts, axis=-2) for parts in zip(*pieces, strict=True))
    return read(q, k, v, np.tril(np.ones((q.shape[-2], k.shape[-2]), dtype=bool)))


def attend_in_layers(layers: Sequence[Sequence[Piece]]) -> list[Array]:
    """Return the outputs of each layer, whose tokens arrive in pieces."""
    return [attend(pieces) for pieces in layers]


def read(q: Float[Array, "... new d"], k: Float[Array, "... n d"], v: Float[Array, "... n d_v"], mask: Array) -> Array:
    """Return the outputs of attention with a mask."""
    scores = np.where(mask, q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]), -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True) @ v)


def stored_bytes(pieces: Sequence[Sequence[int]], itemsize: int, layers: int) -> int:
    """Return the bytes of keys and values, given the elements of queries, keys and values, for each piece and layer."""
    return sum(itemsize * (k + v) for layer in range(layers) for _, k, v in pieces[layer::layers])


def logits(weights: dict[str, Array], tokens: Int[Array, "batch T"]) -> Array:
    """Return the logits after the last token, computed without a cache."""
    x = weights["tokens"][tokens] + weights["positions"][: tokens.shape[1]]
    for wq, wk, wv in weights["layers"]:
        x = x + attend([(x @ wq, x @ wk, x @ wv)])
    return np.asarray(x[:, -1] @ weights["output"])


def generate(weights: dict[str, Array], prompt: Int[Array, "batch T"], n: int) -> Int[Array, "batch T+n"]:
    """Append the most likely token n times, each computed from the last `context` tokens."""
    tokens, context = prompt, len(weights["positions"])
    for _ in range(n):
        best = logits(weights, tokens[:, -context:]).argmax(axis=-1)
        tokens = np.concatenate([tokens, best[:, None]], axis=1)
    return tokens


def fed(length: int, n: int, context: int) -> list[int]:
    """Return how many tokens the model gets in each step."""
    counts, stored, new = [], 0, min(length, context)
    for text in range(length, length + n):
        if stored + new > context:
            stored, new = 0, min(text, context)
        counts.append(new)
        stored, new = stored + new, 1
    return counts


def cache_bytes(num_layers: int, tokens: int, width: int, itemsize: int, batch: int) -> int:
    """Count the bytes of keys and values, layer by layer."""
    return sum(itemsize * batch * tokens * width for _ in range(num_layers) for _ in ("keys", "values"))


def tokens_per_second(weight_bytes: float, cache_bytes: float, bandwidth: float, batch: int) -> float:
    """Return the tokens of a step, one per sequence, divided by its seconds."""
    return batch / (weight_bytes / bandwidth + cache_bytes / bandwidth)


def compute_bound_batch(flop_per_sec: float, bandwidth: float, itemsize: int) -> int:
    """Return the first batch whose FLOPs take at least as long as reading the weights."""
    seconds_per_weight = Fraction(itemsize) / Fraction(bandwidth)
    seconds_per_sequence = Fraction(2) / Fraction(flop_per_sec)
    return int(-(-seconds_per_weight // seconds_per_sequence))
