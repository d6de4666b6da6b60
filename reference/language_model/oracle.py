"""Computes in float64 the logits of a LanguageModel, and the loss of a simpler model.

The simpler model consists of tables: its logits after the tokens `a, b, c` are
`tables[0, a] + tables[1, b] + tables[2, c]`.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array

from reference.attention.oracle import multi_head_attention

NORM_EPS = 1e-5  # the epsilon of rms_norm


def embed(
    tokens: Float[Array, "vocab dim"], positions: Float[Array, "context dim"], batch: Int[Array, "batch T"]
) -> Float[Array, "batch T dim"]:
    """Return, for each token, the sum of its embedding and the embedding of its position."""
    x: Array = tokens[batch] + positions[: batch.shape[1]]
    return x


def normalize(x: Float[Array, "... dim"]) -> Float[Array, "... dim"]:
    """Scale the last dimension to a mean square of 1."""
    normed: Array = x / np.sqrt(np.mean(x**2, -1, keepdims=True) + NORM_EPS)
    return normed


def attend(weights: Mapping[str, Array], x: Float[Array, "batch T dim"]) -> Float[Array, "batch T dim"]:
    """Return the result of causal attention."""
    q, k, v = split_thirds(x @ weights["project.weight"])
    length, dim = x.shape[1:]
    result: Array = multi_head_attention(q, k, v, count_heads(dim), may_read(length)) @ weights["merge.weight"]
    return result


def count_heads(dim: int) -> int:
    """Return the number of heads of an attention of this width."""
    return math.gcd(dim, 4)


def split_thirds(projected: Float[Array, "batch T 3*dim"]) -> Sequence[Float[Array, "batch T dim"]]:
    """Return queries, keys and values, given `project(x)`."""
    return np.split(projected, 3, axis=-1)


def may_read(length: int) -> Bool[Array, "T T"]:
    """Return for each position which positions it may read."""
    return np.tri(length, dtype=bool)


def widen(weights: Mapping[str, Array], x: Float[Array, "... dim"]) -> Float[Array, "... dim"]:
    """Return the result of an MLP: two matrices with a ReLU between them."""
    result: Array = np.maximum(x @ weights["up.weight"], 0) @ weights["down.weight"]
    return result


def add_mlp(x: Float[Array, "... dim"], weights: Mapping[str, Array]) -> Float[Array, "... dim"]:
    """Apply a layer's MLP to the normalized x, and add the result to x."""
    return add(x, widen(weights, normalize(x)))


def add_attention(x: Float[Array, "batch T dim"], weights: Mapping[str, Array]) -> Float[Array, "batch T dim"]:
    """Apply a layer's attention to the normalized x, and add the result to x."""
    return add(x, attend(weights, normalize(x)))


def add(x: Float[Array, "... dim"], result: Float[Array, "... dim"]) -> Float[Array, "... dim"]:
    """Return the residual connection around an attention or an MLP."""
    total: Array = x + result
    return total


def score(x: Float[Array, "... dim"], output: Float[Array, "dim vocab"]) -> Float[Array, "... vocab"]:
    """Return the logits, given the output of the last layer."""
    logits: Array = normalize(x) @ output
    return logits


def forward(weights: Mapping[str, Array], num_layers: int, batch: Int[Array, "batch T"]) -> Float[Array, "batch T v"]:
    """Return the logits of a LanguageModel with the given `state_dict`."""
    x = embed(weights["tokens.weight"], weights["positions.weight"], batch)
    for part, layer in list_parts(num_layers):
        own = select(weights, f"{part}.{layer}.")
        x = add_attention(x, own) if part == "attentions" else add_mlp(x, own)
    return score(x, weights["output.weight"])


def select(weights: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """Return the weights of a part of the model."""
    return {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}


def list_parts(num_layers: int) -> list[tuple[str, int]]:
    """List the attention modules and MLPs of all layers in the order in which they are applied."""
    return [(part, layer) for layer in range(num_layers) for part in ("attentions", "mlps")]


def list_shapes(vocab: int, dim: int, num_layers: int, context: int) -> dict[str, list[int]]:
    """Return the names and shapes of a LanguageModel's parameters."""
    shapes = {"tokens.weight": [vocab, dim], "positions.weight": [context, dim], "output.weight": [dim, vocab]}
    for layer in range(num_layers):
        shapes |= {f"attentions.{layer}.project.weight": [dim, 3 * dim], f"attentions.{layer}.merge.weight": [dim, dim]}
        shapes |= {f"mlps.{layer}.up.weight": [dim, 4 * dim], f"mlps.{layer}.down.weight": [4 * dim, dim]}
    return shapes


def softmax(logits: Float[Array, "... n"]) -> Float[Array, "... n"]:
    """Return the softmax over the last dimension."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    shares: Array = powers / powers.sum(-1, keepdims=True)
    return shares


def look_up(tables: Float[Array, "context v v"], batch: Int[Array, "batch T"]) -> Float[Array, "batch T v"]:
    """Return the logits of the model that consists of these tables."""
    return np.cumsum(tables[np.arange(batch.shape[1]), batch], axis=1)


def split_batch(batch: Int[Array, "batch T+1"]) -> tuple[Int[Array, "batch T"], Int[Array, "batch T"]]:
    """Return the tokens that the model receives, and the token that follows each of them."""
    return batch[:, :-1], batch[:, 1:]


def compute_nats(logits: Float[Array, "batch T v"], following: Int[Array, "batch T"]) -> Float[Array, "batch T"]:
    """Return the cross-entropy of each prediction."""
    largest = logits.max(-1)
    total = largest + np.log(np.exp(logits - largest[..., None]).sum(-1))
    nats: Array = total - np.take_along_axis(logits, following[..., None], -1)[..., 0]
    return nats


def average(nats: Float[Array, "batch T"]) -> float:
    """Return the mean over all predictions."""
    return float(nats.mean())


def loss(tables: Float[Array, "context v v"], batch: Int[Array, "batch T+1"]) -> float:
    """Return the loss of the model that consists of these tables."""
    seen, following = split_batch(batch)
    return average(compute_nats(look_up(tables, seen), following))
