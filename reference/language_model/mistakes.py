"""Mistakes in language models and their training."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray as Array

from reference.language_model import oracle
from torchkata import Mistake, instead_of

X: TypeAlias = Array[Any, Any]


@instead_of(oracle.embed, "the position embedding is missing")
def no_positions(tokens: X, positions: X, batch: X) -> X:
    return tokens[batch]


@instead_of(oracle.embed, "every position gets the embedding of position 0")
def one_position(tokens: X, positions: X, batch: X) -> X:
    return tokens[batch] + positions[0]


@instead_of(oracle.add_block, "the block's result replaces x; it should be added to x")
def replaced(x: X, weight: X) -> X:
    return np.maximum(oracle.normalize(x) @ weight, 0)


@instead_of(oracle.add_block, "the block is applied to x, not to norm(x)")
def raw_block(x: X, weight: X) -> X:
    return x + np.maximum(x @ weight, 0)


@instead_of(oracle.add_block, "the block's result is added to norm(x), not to x")
def normed_sum(x: X, weight: X) -> X:
    normed = oracle.normalize(x)
    return normed + np.maximum(normed @ weight, 0)


@instead_of(oracle.add_block, "norm is applied to the sum, after the block")
def norm_afterwards(x: X, weight: X) -> X:
    return oracle.normalize(x + np.maximum(x @ weight, 0))


@instead_of(oracle.score, "the output layer is applied to x, not to norm(x)")
def raw_output(x: X, output: X) -> X:
    return x @ output


@instead_of(oracle.score, "the model returns probabilities instead of logits")
def probabilities(x: X, output: X) -> X:
    return oracle.softmax(oracle.normalize(x) @ output)


@instead_of(oracle.score, "the model returns log-probabilities instead of logits")
def log_probabilities(x: X, output: X) -> X:
    return np.log(oracle.softmax(oracle.normalize(x) @ output))


@instead_of(oracle.list_parts, "in each layer, the block comes before the attention")
def block_first(num_layers: int) -> list[tuple[str, int]]:
    return [(part, layer) for layer in range(num_layers) for part in ("blocks", "attentions")]


@instead_of(oracle.list_parts, "all attention layers are applied before all blocks")
def attentions_first(num_layers: int) -> list[tuple[str, int]]:
    return [(part, layer) for part in ("attentions", "blocks") for layer in range(num_layers)]


@instead_of(oracle.list_parts, "the layers are applied from the last to the first")
def backwards(num_layers: int) -> list[tuple[str, int]]:
    return [(part, layer) for layer in reversed(range(num_layers)) for part in ("attentions", "blocks")]


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


@instead_of(oracle.compute_nats, "the loss is in bits, not in nats")
def bits(logits: X, following: X) -> X:
    return oracle.compute_nats(logits, following) / np.log(2)


@instead_of(oracle.compute_nats, "softmax is applied twice: cross_entropy expects logits")
def twice(logits: X, following: X) -> X:
    return oracle.compute_nats(oracle.softmax(logits), following)


@instead_of(oracle.warm_up, "the rate of step 0 is 0: the warm-up uses step instead of step + 1")
def from_zero(step: int, peak: float, warmup: int) -> float:
    return peak * step / warmup


@instead_of(oracle.warm_up, "there is no warm-up")
def no_warm_up(step: int, peak: float, warmup: int) -> float:
    return peak


@instead_of(oracle.learning_rate, "the cosine starts at step 0 instead of at the end of the warm-up")
def since_step_zero(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    if warmup <= step < steps:
        return oracle.decay(step / steps, peak, final)
    return oracle.learning_rate(step, peak, final, warmup, steps)


@instead_of(oracle.learning_rate, "the cosine continues after the last step, so the rate rises again")
def rises_again(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    if step >= steps > warmup:
        return oracle.decay((step - warmup) / (steps - warmup), peak, final)
    return oracle.learning_rate(step, peak, final, warmup, steps)


@instead_of(oracle.decay, "the rate falls linearly, not along a cosine")
def straight(progress: float, peak: float, final: float) -> float:
    return peak + (final - peak) * progress


@instead_of(oracle.decay, "the cosine falls to 0 instead of final")
def falls_to_zero(progress: float, peak: float, final: float) -> float:
    return peak * float(1 + np.cos(np.pi * progress)) / 2


@instead_of(oracle.decay, "final is added to a cosine that starts at peak instead of peak - final")
def on_top(progress: float, peak: float, final: float) -> float:
    return final + peak * float(1 + np.cos(np.pi * progress)) / 2


@instead_of(
    oracle.compute_norm, "the norms of the gradients are added: take the root of the sum of their squares instead"
)
def sum_of_norms(grads: Sequence[X]) -> float:
    return float(sum(np.sqrt(np.sum(grad**2)) for grad in grads))


@instead_of(oracle.compute_norm, "the norm is the sum of squares: the square root is missing")
def squared(grads: Sequence[X]) -> float:
    return float(sum(np.sum(grad**2) for grad in grads))


@instead_of(oracle.compute_norm, "the norm is the largest absolute value of an element")
def largest(grads: Sequence[X]) -> float:
    return float(max((np.max(abs(grad)) for grad in grads), default=0.0))


@instead_of(oracle.clip, "each gradient is clipped by its own norm instead of the global norm")
def each_by_its_own(grads: Sequence[X], max_norm: float) -> tuple[float, list[X]]:
    return oracle.compute_norm(grads), [oracle.clip([grad], max_norm)[1][0] for grad in grads]


@instead_of(oracle.clip, "each element is clamped to max_norm: scale all gradients by one factor instead")
def element_by_element(grads: Sequence[X], max_norm: float) -> tuple[float, list[X]]:
    return oracle.compute_norm(grads), [np.clip(grad, -max_norm, max_norm) for grad in grads]


@instead_of(oracle.clip, "small gradients are scaled up to max_norm")
def scaled_up(grads: Sequence[X], max_norm: float) -> tuple[float, list[X]]:
    norm = oracle.compute_norm(grads)
    return norm, [grad * max_norm / norm for grad in grads]


@instead_of(oracle.clip, "the norm after clipping is returned instead of the norm before")
def norm_afterwards_returned(grads: Sequence[X], max_norm: float) -> tuple[float, list[X]]:
    clipped = oracle.clip(grads, max_norm)[1]
    return oracle.compute_norm(clipped), clipped


@instead_of(oracle.clip, "the gradients are divided by the norm, but not multiplied by max_norm")
def unit_norm(grads: Sequence[X], max_norm: float) -> tuple[float, list[X]]:
    norm = oracle.compute_norm(grads)
    return norm, [grad / norm if norm > max_norm else grad for grad in grads]


def decay_if(decays: Callable[[int], bool], message: str) -> Mistake:
    """Return a mistake that selects the decaying parameters by a different condition on their number of dimensions."""
    return instead_of(oracle.get_decay, message)(
        lambda shape, weight_decay: weight_decay if decays(len(shape)) else 0.0
    )


all_decay = decay_if(lambda _: True, "all parameters decay, even those with fewer than two dimensions")
vectors_decay = decay_if(lambda ndim: ndim < 2, "the groups are swapped: vectors decay and matrices do not")
only_two = decay_if(lambda ndim: ndim == 2, "parameters with more than two dimensions do not decay")
scalars_decay = decay_if(
    lambda ndim: ndim != 1, "scalars decay: only parameters with exactly one dimension are excluded"
)


@instead_of(oracle.get_shares, "all micro-batches have the same weight, even a smaller last one")
def all_alike(rows: Sequence[int]) -> list[float]:
    return [1 / len(rows) for _ in rows]


@instead_of(oracle.get_shares, "the micro-batches' means are summed, but not divided by the number of micro-batches")
def undivided(rows: Sequence[int]) -> list[float]:
    return [1.0 for _ in rows]


@instead_of(oracle.accumulate, "the gradients are clipped after each micro-batch: clip only once, after the last one")
def clipped_in_parts(parts: Sequence[X], max_norm: float) -> X:
    total = np.zeros_like(parts[0])
    for part in parts:
        total = oracle.clip([total + part], max_norm)[1][0]
    return total


@instead_of(oracle.accumulate, "the gradients are not clipped")
def not_clipped(parts: Sequence[X], max_norm: float) -> X:
    return np.sum(parts, axis=0)


@instead_of(oracle.accumulate, "the gradients are zeroed before every micro-batch, so only the last one counts")
def last_part(parts: Sequence[X], max_norm: float) -> X:
    return oracle.clip([parts[-1]], max_norm)[1][0]


@instead_of(oracle.list_saves, "no checkpoint is saved after the last step")
def last_not_saved(start: int, steps: int, every: int) -> list[int]:
    return [done for done in range(start + 1, steps + 1) if done % every == 0]


@instead_of(
    oracle.list_saves, "the saved step is too small by one: save the number of steps taken, not the last step's index"
)
def index_saved(start: int, steps: int, every: int) -> list[int]:
    return [done - 1 for done in oracle.list_saves(start, steps, every)]


@instead_of(oracle.list_saves, "a checkpoint is saved only at the end")
def saved_at_the_end(start: int, steps: int, every: int) -> list[int]:
    return [steps] if steps > start else []


@instead_of(oracle.look_back, "the model is given the first tokens of the text, not the last")
def looks_at_the_start(tokens: Sequence[int], context: int) -> Sequence[int]:
    return tokens[:context]


@instead_of(oracle.look_back, "the model is given one token fewer than its context allows")
def one_token_less(tokens: Sequence[int], context: int) -> Sequence[int]:
    return tokens[-max(context - 1, 1) :]


@instead_of(oracle.look_back, "the model is given only the last token")
def last_token(tokens: Sequence[int], context: int) -> Sequence[int]:
    return tokens[-1:]


@instead_of(oracle.choose, "the logits of the first position are used instead of those of the last")
def first_position(logits: X) -> int:
    return int(np.argmax(logits[0]))


@instead_of(oracle.choose, "with temperature 0, the least likely token is chosen")
def least_likely(logits: X) -> int:
    return int(np.argmin(logits[-1]))


@instead_of(oracle.continue_greedily, "only the new tokens are returned, without the prompt")
def without_prompt(tables: X, prompt: Sequence[int], n: int) -> list[int]:
    return oracle.continue_greedily(tables, prompt, n)[len(prompt) :]


@instead_of(oracle.continue_greedily, "one token is missing")
def one_missing(tables: X, prompt: Sequence[int], n: int) -> list[int]:
    return oracle.continue_greedily(tables, prompt, max(n - 1, 0))


@instead_of(oracle.sharpen, "the temperature has no effect")
def no_temperature(logits: X, temperature: float) -> X:
    return oracle.softmax(logits)


@instead_of(oracle.sharpen, "the logits are multiplied by the temperature instead of divided by it")
def multiplied(logits: X, temperature: float) -> X:
    return oracle.softmax(logits * temperature)


@instead_of(oracle.sharpen, "softmax is applied to probabilities / temperature instead of logits / temperature")
def softened(logits: X, temperature: float) -> X:
    return oracle.softmax(oracle.softmax(logits) / temperature)
