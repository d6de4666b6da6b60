"""Mistakes in training language models."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray as Array

from reference.train_language_model import oracle
from torchkata import Mistake, instead_of

X: TypeAlias = Array[Any, Any]


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


@instead_of(oracle.learning_rate, "the step after the warm-up, step = warmup, still rises, so its rate is above peak")
def one_step_too_warm(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    if step == warmup > 0:
        return oracle.warm_up(step, peak, warmup)
    return oracle.learning_rate(step, peak, final, warmup, steps)


@instead_of(oracle.learning_rate, "the cosine is stretched over `steps` steps instead of `steps - warmup`")
def stretched(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    if warmup <= step < steps:
        return oracle.decay((step - warmup) / steps, peak, final)
    return oracle.learning_rate(step, peak, final, warmup, steps)


@instead_of(oracle.learning_rate, "the cosine ends one step early: it is divided by steps - warmup - 1")
def ends_early(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    if warmup <= step < steps:
        return oracle.decay((step - warmup) / max(1, steps - warmup - 1), peak, final)
    return oracle.learning_rate(step, peak, final, warmup, steps)


@instead_of(oracle.learning_rate, "the warm-up rises from final instead of 0")
def warmed_up_from_final(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    return final + oracle.learning_rate(step, peak - final, 0, warmup, steps)


@instead_of(oracle.learning_rate, "the warm-up is divided by warmup + 1 instead of warmup, so it ends below peak")
def ends_below_peak(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    right = oracle.learning_rate(step, peak, final, warmup, steps)
    return right * warmup / (warmup + 1) if step < warmup else right


@instead_of(oracle.decay, "the cosine is not halved: 1 + cos is up to 2")
def not_halved(progress: float, peak: float, final: float) -> float:
    return final + (peak - final) * float(1 + np.cos(np.pi * progress))


@instead_of(oracle.decay, "the angle rises only to π / 2 instead of π, so the rate falls only halfway to final")
def halfway(progress: float, peak: float, final: float) -> float:
    return oracle.decay(progress / 2, peak, final)


@instead_of(oracle.decay, "the angle is in degrees: math.cos takes radians, π instead of 180")
def in_degrees(progress: float, peak: float, final: float) -> float:
    return oracle.decay(progress * 180 / np.pi, peak, final)


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


@instead_of(oracle.compute_norm, "the norm is the sum of absolute values: take the root of the sum of squares instead")
def sum_of_sizes(grads: Sequence[X]) -> float:
    return float(sum(np.sum(abs(grad)) for grad in grads))


@instead_of(oracle.compute_norm, "the norm is the root of the mean of all squares: take the root of their sum instead")
def root_mean_square(grads: Sequence[X]) -> float:
    return float(np.sqrt(sum(np.sum(grad**2) for grad in grads) / max(1, sum(grad.size for grad in grads))))


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


@instead_of(oracle.get_shares, "a smaller last micro-batch makes the weights sum to less than 1: divide by all rows")
def full_batches_assumed(rows: Sequence[int]) -> list[float]:
    return [count / rows[0] / len(rows) for count in rows]


@instead_of(oracle.list_rates, "each step has the learning rate of the next one: steps are counted from 0")
def rates_of_next_steps(peak: float, final: float, warmup: int, steps: int) -> list[float]:
    return [oracle.learning_rate(step, peak, final, warmup, steps) for step in range(1, steps + 1)]


@instead_of(oracle.zero, "the gradients from before the step are added: zero them first")
def not_zeroed(gradient: X) -> X:
    return gradient


@instead_of(oracle.accumulate, "the gradients are clipped after each micro-batch: clip only once, after the last one")
def clipped_in_parts(parts: Sequence[X], max_norm: float) -> X:
    total = np.zeros_like(parts[0])
    for part in parts:
        total = oracle.clip([total + part], max_norm)[1][0]
    return total


@instead_of(oracle.accumulate, "the gradients are not clipped before optimizer.step()")
def not_clipped(parts: Sequence[X], max_norm: float) -> X:
    return np.sum(parts, axis=0)


@instead_of(oracle.accumulate, "only the gradients of the last micro-batch count: add up those of all micro-batches")
def last_part(parts: Sequence[X], max_norm: float) -> X:
    return oracle.clip([parts[-1]], max_norm)[1][0]


@instead_of(
    oracle.list_saves,
    "no checkpoint is saved after the last step if checkpoint_every does not divide the number of steps",
)
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
