"""Computes in float64 the logits of a LanguageModel, and trains and samples from a simpler model.

The simpler model consists of tables: its logits after the tokens `a, b, c` are
`tables[0, a] + tables[1, b] + tables[2, c]`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

NORM_EPS = 1e-5  # the epsilon of layer_norm


def embed(
    tokens: Float[Array, "vocab dim"], positions: Float[Array, "context dim"], batch: Int[Array, "batch T"]
) -> Float[Array, "batch T dim"]:
    """Return, for each token, the sum of its embedding and the embedding of its position."""
    x: Array = tokens[batch] + positions[: batch.shape[1]]
    return x


def normalize(x: Float[Array, "... dim"]) -> Float[Array, "... dim"]:
    """Scale the last dimension to mean 0 and variance 1."""
    centered = x - x.mean(-1, keepdims=True)
    normed: Array = centered / np.sqrt(np.mean(centered**2, -1, keepdims=True) + NORM_EPS)
    return normed


def attend(weights: Mapping[str, Array], x: Float[Array, "batch T dim"]) -> Float[Array, "batch T dim"]:
    """Add causal attention to x, like the `CausalAttention` class that students receive."""
    rows, length, dim = x.shape
    heads = int(np.gcd(dim, 4))
    normed = normalize(x) * weights["norm.weight"] + weights["norm.bias"]
    parts = (normed @ weights["project.weight"].T).reshape(rows, length, 3, heads, dim // heads)
    query, key, value = (np.moveaxis(parts[:, :, i], 2, 1) for i in range(3))
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(dim // heads)
    scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    mixed = softmax(scores) @ value
    result: Array = x + np.moveaxis(mixed, 1, 2).reshape(rows, length, dim) @ weights["merge.weight"].T
    return result


def add_block(x: Float[Array, "... dim"], weight: Float[Array, "dim dim"]) -> Float[Array, "... dim"]:
    """Apply a layer's block to the normalized x, and add the result to x."""
    result: Array = x + np.maximum(normalize(x) @ weight, 0)
    return result


def score(x: Float[Array, "... dim"], output: Float[Array, "dim vocab"]) -> Float[Array, "... vocab"]:
    """Return the logits, given the output of the last layer."""
    logits: Array = normalize(x) @ output
    return logits


def forward(weights: Mapping[str, Array], num_layers: int, batch: Int[Array, "batch T"]) -> Float[Array, "batch T v"]:
    """Return the logits of a LanguageModel with the given `state_dict`."""
    x = embed(weights["tokens.weight"], weights["positions.weight"], batch)
    for part, layer in list_parts(num_layers):
        prefix = f"{part}.{layer}."
        own = {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}
        x = attend(own, x) if part == "attentions" else add_block(x, own["weight"])
    return score(x, weights["output.weight"])


def list_parts(num_layers: int) -> list[tuple[str, int]]:
    """List the attention modules and blocks of all layers in the order in which they are applied."""
    return [(part, layer) for layer in range(num_layers) for part in ("attentions", "blocks")]


def list_shapes(vocab: int, dim: int, num_layers: int, context: int) -> dict[str, list[int]]:
    """Return the names and shapes of a LanguageModel's parameters."""
    shapes = {"tokens.weight": [vocab, dim], "positions.weight": [context, dim], "output.weight": [dim, vocab]}
    for layer in range(num_layers):
        shapes |= {f"attentions.{layer}.norm.{name}": [dim] for name in ("weight", "bias")}
        shapes |= {f"attentions.{layer}.project.weight": [3 * dim, dim], f"attentions.{layer}.merge.weight": [dim, dim]}
        shapes[f"blocks.{layer}.weight"] = [dim, dim]
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


def compute_gradient(
    tables: Float[Array, "context v v"], batch: Int[Array, "batch T+1"]
) -> Float[Array, "context v v"]:
    """Return the gradient of the loss with respect to the tables."""
    seen, following = split_batch(batch)
    slope = softmax(look_up(tables, seen)) - np.eye(tables.shape[-1])[following]
    sums = np.cumsum(slope[:, ::-1], axis=1)[:, ::-1] / seen.size  # position i affects all logits from i on
    gradient = np.zeros_like(tables)
    np.add.at(gradient, (np.arange(seen.shape[1]), seen), sums)
    return gradient


def learning_rate(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    """Return the learning rate of a step."""
    if step < warmup:
        return warm_up(step, peak, warmup)
    if step >= steps:
        return final
    return decay((step - warmup) / (steps - warmup), peak, final)


def warm_up(step: int, peak: float, warmup: int) -> float:
    """Return the learning rate of a step during the warm-up."""
    return peak * (step + 1) / warmup


def decay(progress: float, peak: float, final: float) -> float:
    """Return the learning rate after the warm-up. `progress` increases from 0 to 1 until the end of training."""
    rate: float = final + (peak - final) * (1 + np.cos(np.pi * progress)) / 2
    return rate


def compute_norm(grads: Sequence[Float[Array, "..."]]) -> float:
    """Return the norm of all gradients, concatenated into one vector."""
    return float(np.sqrt(sum(np.sum(grad**2) for grad in grads)))


def clip(grads: Sequence[Float[Array, "..."]], max_norm: float) -> tuple[float, list[Float[Array, "..."]]]:
    """Return the norm of the gradients, and the gradients scaled to a norm of at most `max_norm`."""
    norm = compute_norm(grads)
    return norm, [grad * max_norm / norm if norm > max_norm else grad for grad in grads]


def get_decay(shape: Sequence[int], weight_decay: float) -> float:
    """Return the weight decay of a parameter with the given shape."""
    return weight_decay if len(shape) >= 2 else 0.0


def get_shares(rows: Sequence[int]) -> list[float]:
    """Return the weight of each micro-batch's loss in the loss of the batch."""
    return [count / sum(rows) for count in rows]


def accumulate(parts: Sequence[Float[Array, "..."]], max_norm: float) -> Float[Array, "..."]:
    """Return the gradient that the optimizer receives, given the contribution of each micro-batch."""
    return clip([np.sum(parts, axis=0)], max_norm)[1][0]


def train(
    tables: Float[Array, "context v v"],
    batch: Int[Array, "batch T+1"],
    micro_batch_size: int,
    max_norm: float,
) -> tuple[float, Float[Array, "context v v"]]:
    """Return the loss of the batch and the gradient that the optimizer receives."""
    parts = [batch[start : start + micro_batch_size] for start in range(0, len(batch), micro_batch_size)]
    shares = get_shares([len(part) for part in parts])
    total = sum(share * loss(tables, part) for share, part in zip(shares, parts, strict=True))
    grads = [share * compute_gradient(tables, part) for share, part in zip(shares, parts, strict=True)]
    return total, accumulate(grads, max_norm)


def list_saves(start: int, steps: int, every: int) -> list[int]:
    """Return the step numbers that train_lm passes to save_checkpoint."""
    return [done for done in range(start + 1, steps + 1) if done % every == 0 or done == steps]


def look_back(tokens: Sequence[int], context: int) -> Sequence[int]:
    """Return the tokens that the model receives, which are the last `context` tokens."""
    return tokens[-context:]


def choose(logits: Float[Array, "T v"]) -> int:
    """Return the most likely next token, given the logits at each position."""
    return int(np.argmax(logits[-1]))


def continue_greedily(tables: Float[Array, "context v v"], prompt: Sequence[int], n: int) -> list[int]:
    """Return the prompt followed by `n` tokens, each of which is the most likely next token."""
    tokens = [*prompt]
    for _ in range(n):
        seen = np.array([look_back(tokens, len(tables))])
        tokens.append(choose(look_up(tables, seen)[0]))
    return tokens


def sharpen(logits: Float[Array, "v"], temperature: float) -> Float[Array, "v"]:
    """Return the probabilities of the next token at the given temperature."""
    return softmax(logits / temperature)
