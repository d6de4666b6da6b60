"""Mistakes in language models."""

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray as Array

from reference.language_model import oracle
from torchkata import instead_of

X: TypeAlias = Array[Any, Any]
Weights: TypeAlias = Mapping[str, X]


@instead_of(oracle.embed, "the position embedding is missing")
def no_positions(tokens: X, positions: X, batch: X) -> X:
    return tokens[batch]


@instead_of(oracle.embed, "every position gets the embedding of position 0")
def one_position(tokens: X, positions: X, batch: X) -> X:
    return tokens[batch] + positions[0]


@instead_of(oracle.embed, "positions are counted from 1 instead of 0")
def positions_from_one(tokens: X, positions: X, batch: X) -> X:
    return tokens[batch] + positions[(np.arange(batch.shape[1]) + 1) % len(positions)]


@instead_of(oracle.embed, "the last T positions of the context are used instead of the first T")
def last_positions(tokens: X, positions: X, batch: X) -> X:
    return tokens[batch] + positions[len(positions) - batch.shape[1] :]


@instead_of(oracle.embed, "the token embeddings are multiplied by sqrt(dim), as in the first Transformer")
def scaled_embeddings(tokens: X, positions: X, batch: X) -> X:
    return oracle.embed(tokens * math.sqrt(tokens.shape[1]), positions, batch)


@instead_of(oracle.add_attention, "the attention itself also adds its input: only LanguageModel should add x")
def residual_twice(x: X, weights: Weights) -> X:
    return oracle.add_attention(x, weights) + oracle.normalize(x)


@instead_of(oracle.add_attention, "norm is applied twice before the attention, in LanguageModel and in CausalAttention")
def normed_twice(x: X, weights: Weights) -> X:
    return x + oracle.attend(weights, oracle.normalize(oracle.normalize(x)))


@instead_of(oracle.normalize, "norm averages over all rows and positions instead of each position's last dimension")
def normed_together(x: X) -> X:
    return x / np.sqrt(np.mean(x**2) + oracle.NORM_EPS)


@instead_of(oracle.widen, "the MLP's ReLU comes after down instead of between up and down")
def relu_last(weights: Weights, x: X) -> X:
    return np.maximum(x @ weights["up.weight"] @ weights["down.weight"], 0)


@instead_of(oracle.forward, "the MLP reads the x from before the attention: a layer has two steps, one after the other")
def parallel(weights: Weights, num_layers: int, batch: X) -> X:
    x = oracle.embed(weights["tokens.weight"], weights["positions.weight"], batch)
    for layer in range(num_layers):
        own = [oracle.select(weights, f"{part}.{layer}.") for part in ("attentions", "mlps")]
        x = oracle.add_attention(x, own[0]) + oracle.add_mlp(x, own[1]) - x
    return oracle.score(x, weights["output.weight"])


STREAM = "x itself becomes norm(x) in each layer: only what the attention and the MLP read should be normalized"


@instead_of(oracle.add_attention, STREAM)
def normed_stream(x: X, weights: Weights) -> X:
    normed = oracle.normalize(x)
    return normed + oracle.attend(weights, normed)


@instead_of(oracle.add_mlp, STREAM)
def normed_stream_too(x: X, weights: Weights) -> X:
    return normed_sum.mistaken(x, weights)


@instead_of(oracle.normalize, "the eps of norm is {eps:g} instead of 1e-5", eps=[1e-6, 1e-8])
def other_eps(x: X, eps: float) -> X:
    return x / np.sqrt(np.mean(x**2, -1, keepdims=True) + eps)


@instead_of(oracle.widen, "the MLP has a GELU instead of a ReLU")
def gelu_in_the_mlp(weights: Weights, x: X) -> X:
    h = x @ weights["up.weight"]
    return h * (1 + np.vectorize(math.erf, otypes=[float])(h / np.sqrt(2))) / 2 @ weights["down.weight"]


@instead_of(oracle.add_mlp, "the MLP's result replaces x; it should be added to x")
def replaced(x: X, weights: Weights) -> X:
    return oracle.widen(weights, oracle.normalize(x))


@instead_of(oracle.add_mlp, "the MLP is applied to x, not to norm(x)")
def raw_mlp(x: X, weights: Weights) -> X:
    return x + oracle.widen(weights, x)


@instead_of(oracle.add_mlp, "the MLP's result is added to norm(x), not to x")
def normed_sum(x: X, weights: Weights) -> X:
    normed = oracle.normalize(x)
    return normed + oracle.widen(weights, normed)


@instead_of(oracle.add_mlp, "norm is applied to the sum, after the MLP")
def norm_afterwards(x: X, weights: Weights) -> X:
    return oracle.normalize(x + oracle.widen(weights, x))


@instead_of(oracle.add_attention, "the attention is applied to x, not to norm(x)")
def raw_attention(x: X, weights: Weights) -> X:
    return x + oracle.attend(weights, x)


@instead_of(oracle.may_read, "the attention has no causal mask: each position reads later ones")
def no_mask(length: int) -> X:
    return np.ones((length, length), dtype=bool)


@instead_of(oracle.may_read, "the mask is the wrong way round: each position reads itself and later ones")
def later_only(length: int) -> X:
    return np.tri(length, dtype=bool).T


@instead_of(oracle.count_heads, "the attention has a single head")
def one_head(dim: int) -> int:
    return 1


@instead_of(oracle.may_read, "each position reads only earlier ones: it should also read itself")
def earlier_only(length: int) -> X:
    return np.tri(length, k=-1, dtype=bool)


@instead_of(oracle.may_read, "each position also reads the next one")
def one_ahead(length: int) -> X:
    return np.tri(length, k=1, dtype=bool)


@instead_of(oracle.count_heads, "the attention has 4 heads or 1: for dim = 6, math.gcd(dim, 4) is 2")
def four_or_one(dim: int) -> int:
    return 1 if dim % 4 else 4


@instead_of(oracle.split_thirds, "q and k are swapped")
def swapped(projected: X) -> list[X]:
    q, k, v = np.split(projected, 3, axis=-1)
    return [k, q, v]


@instead_of(oracle.split_thirds, "project(x) is split as (dim 3) instead of (3 dim)")
def interleaved(projected: X) -> list[X]:
    return [projected[..., place::3] for place in range(3)]


@instead_of(oracle.split_thirds, "project(x) is split as (heads 3 size) instead of (3 heads size)")
def thirds_of_each_head(projected: X) -> list[X]:
    heads = oracle.count_heads(projected.shape[-1] // 3)
    parts = projected.reshape(*projected.shape[:-1], heads, 3, -1)
    return [parts[..., place, :].reshape(*projected.shape[:-1], -1) for place in range(3)]


@instead_of(
    oracle.split_thirds,
    "the thirds of project(x) are used as {order}: they are q, k and v",
    order=["k, v, q", "v, k, q", "v, q, k", "q, v, k"],
)
def another_order(projected: X, order: str) -> list[X]:
    thirds = dict(zip(order.split(", "), np.split(projected, 3, axis=-1), strict=True))
    return [thirds[name] for name in "qkv"]


@instead_of(oracle.add, "the results of the attention and the MLP replace x; they should be added to x")
def both_replaced(x: X, result: X) -> X:
    return result


@instead_of(oracle.widen, "the MLP has no ReLU")
def no_relu(weights: Weights, x: X) -> X:
    return x @ weights["up.weight"] @ weights["down.weight"]


@instead_of(oracle.normalize, "norm is a layer norm, which subtracts the mean; rms_norm does not")
def mean_subtracted(x: X) -> X:
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt(np.mean(centered**2, -1, keepdims=True) + oracle.NORM_EPS)


@instead_of(oracle.score, "the output layer is applied to x, not to norm(x)")
def raw_output(x: X, output: X) -> X:
    return x @ output


@instead_of(oracle.score, "the model returns probabilities instead of logits")
def probabilities(x: X, output: X) -> X:
    return oracle.softmax(oracle.normalize(x) @ output)


@instead_of(oracle.score, "the model returns log-probabilities instead of logits")
def log_probabilities(x: X, output: X) -> X:
    return np.log(oracle.softmax(oracle.normalize(x) @ output))


@instead_of(oracle.list_parts, "in each layer, the MLP comes before the attention")
def mlp_first(num_layers: int) -> list[tuple[str, int]]:
    return [(part, layer) for layer in range(num_layers) for part in ("mlps", "attentions")]


@instead_of(oracle.list_parts, "all attention layers are applied before all MLPs")
def attentions_first(num_layers: int) -> list[tuple[str, int]]:
    return [(part, layer) for part in ("attentions", "mlps") for layer in range(num_layers)]


@instead_of(oracle.list_parts, "the layers are applied from the last to the first")
def backwards(num_layers: int) -> list[tuple[str, int]]:
    return [(part, layer) for layer in reversed(range(num_layers)) for part in ("attentions", "mlps")]


@instead_of(
    oracle.split_batch,
    "the logits of each position are compared with its own token, not the next one",
)
def not_shifted(batch: X) -> tuple[X, X]:
    return batch[:, :-1], batch[:, :-1]


@instead_of(oracle.average, "the cross-entropy is summed, but not divided by the number of predictions")
def summed(nats: X) -> float:
    return float(nats.sum())


@instead_of(oracle.average, "the cross-entropy is divided by the number of rows instead of predictions")
def per_row(nats: X) -> float:
    return float(nats.sum() / len(nats))


@instead_of(oracle.average, "only the last prediction of each row counts")
def last_only(nats: X) -> float:
    return float(nats[:, -1].mean())


@instead_of(oracle.loss, "predictions whose target is token 0 do not count")
def zero_ignored(tables: X, batch: X) -> float:
    seen, following = oracle.split_batch(batch)
    nats = oracle.compute_nats(oracle.look_up(tables, seen), following)[following != 0]
    return oracle.average(nats) if nats.size else math.nan


@instead_of(oracle.compute_nats, "the loss is in bits, not in nats")
def bits(logits: X, following: X) -> X:
    return oracle.compute_nats(logits, following) / np.log(2)


@instead_of(oracle.compute_nats, "the cross-entropy is also divided by the size of the vocabulary")
def per_token_of_the_vocabulary(logits: X, following: X) -> X:
    return oracle.compute_nats(logits, following) / logits.shape[-1]


@instead_of(
    oracle.compute_nats,
    "the logits are reshaped to (batch, vocab, T), which mixes positions and vocabulary: use transpose, or flatten "
    "batch and positions",
)
def reshaped_logits(logits: X, following: X) -> X:
    rows, length, vocab = logits.shape
    return oracle.compute_nats(logits.reshape(rows, vocab, length).swapaxes(1, 2), following)


@instead_of(oracle.compute_nats, "softmax is applied twice: cross_entropy expects logits")
def twice(logits: X, following: X) -> X:
    return oracle.compute_nats(oracle.softmax(logits), following)
