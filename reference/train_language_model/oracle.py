"""Computes in float64 the steps of training, with the model of tables in language_model's oracle."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from reference.language_model.oracle import look_up, loss, softmax, split_batch


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


def list_rates(peak: float, final: float, warmup: int, steps: int) -> list[float]:
    """Return the learning rates of all steps of a run."""
    return [learning_rate(step, peak, final, warmup, steps) for step in range(steps)]


def zero(gradient: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return the gradient to which the micro-batches add, given the one from before the step."""
    return np.zeros_like(gradient)


def accumulate(parts: Sequence[Float[Array, "..."]], max_norm: float) -> Float[Array, "..."]:
    """Return the gradient that the optimizer receives, given the contribution of each micro-batch."""
    return clip([np.sum(parts, axis=0)], max_norm)[1][0]


def train(
    tables: Float[Array, "context v v"],
    batch: Int[Array, "batch T+1"],
    micro_batch_size: int,
    max_norm: float,
    before: Float[Array, "context v v"],
) -> tuple[float, Float[Array, "context v v"]]:
    """Return the loss of the batch and the gradient that the optimizer receives."""
    parts = [batch[start : start + micro_batch_size] for start in range(0, len(batch), micro_batch_size)]
    shares = get_shares([len(part) for part in parts])
    total = sum(share * loss(tables, part) for share, part in zip(shares, parts, strict=True))
    grads = [share * compute_gradient(tables, part) for share, part in zip(shares, parts, strict=True)]
    return total, accumulate([zero(before), *grads], max_norm)


def list_saves(start: int, steps: int, every: int) -> list[int]:
    """Return the step numbers that train_lm passes to save_checkpoint."""
    return [done for done in range(start + 1, steps + 1) if done % every == 0 or done == steps]
