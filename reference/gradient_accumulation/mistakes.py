"""Mistakes in gradient accumulation."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.gradient_accumulation import oracle
from torchkata import instead_of

Weights: TypeAlias = Sequence[Float[Array, "d k"]]
X: TypeAlias = Float[Array, "batch d"]
Y: TypeAlias = Float[Array, "batch"]
Accumulated: TypeAlias = tuple[float, list[Float[Array, "d k"]]]

SKIPPED = "the last, smaller micro-batch is skipped"


def weigh_alike(rows: Sequence[int], micro_batch_size: int) -> list[float]:
    return [1 / len(rows) for _ in rows]


def weigh_by_one(rows: Sequence[int], micro_batch_size: int) -> list[float]:
    return [1.0 for _ in rows]


def weigh_by_rows(rows: Sequence[int], micro_batch_size: int) -> list[float]:
    return [float(count) for count in rows]


def weigh_as_if_full(rows: Sequence[int], micro_batch_size: int) -> list[float]:
    return [count / (micro_batch_size * len(rows)) for count in rows]


all_alike = instead_of(
    oracle.get_weights, "the gradients of all micro-batches have the same weight, even those of a smaller last one"
)(weigh_alike)
undivided = instead_of(
    oracle.get_weights, "the micro-batches' means are summed, but not divided by the number of micro-batches"
)(weigh_by_one)
sum_of_squares = instead_of(oracle.get_weights, "the squared errors are summed, but not divided by the number of rows")(
    weigh_by_rows
)
all_full = instead_of(
    oracle.get_weights, "the sum of each micro-batch is divided by micro_batch_size, even if it has fewer rows"
)(weigh_as_if_full)
loss_is_a_mean_of_means = instead_of(
    oracle.get_loss_weights,
    "the returned loss is the mean of the micro-batches' means: a smaller last one needs a smaller weight",
)(weigh_alike)
loss_is_a_sum_of_means = instead_of(
    oracle.get_loss_weights, "the returned loss is the sum of the micro-batches' means"
)(weigh_by_one)
loss_is_a_sum = instead_of(
    oracle.get_loss_weights, "the returned loss is the sum of the squared errors, not divided by their number"
)(weigh_by_rows)
loss_of_full_micro_batches = instead_of(
    oracle.get_loss_weights,
    "in the returned loss, the sum of each micro-batch is divided by micro_batch_size, even if it has fewer rows",
)(weigh_as_if_full)


@instead_of(oracle.split_rows, "the model is called with the whole batch at once")
def uncut(batch: int, micro_batch_size: int) -> list[int]:
    return [batch]


@instead_of(oracle.split_rows, "the model is called with one row at a time")
def row_by_row(batch: int, micro_batch_size: int) -> list[int]:
    return [1] * batch


@instead_of(oracle.split_rows, "the last, smaller micro-batch is skipped, and the mean is that of the other rows")
def rest_dropped(batch: int, micro_batch_size: int) -> list[int]:
    return [micro_batch_size] * (batch // micro_batch_size) or [batch]


@instead_of(oracle.split_rows, "the last row of the batch is skipped")
def last_row_dropped(batch: int, micro_batch_size: int) -> list[int]:
    return oracle.split_rows(max(1, batch - 1), micro_batch_size)


@instead_of(oracle.list_call_sizes, "the model is called twice for each micro-batch")
def called_twice(batch: int, micro_batch_size: int) -> list[int]:
    return 2 * oracle.list_call_sizes(batch, micro_batch_size)


@instead_of(oracle.list_call_sizes, "the model is called again with the whole batch")
def called_with_all(batch: int, micro_batch_size: int) -> list[int]:
    return [*oracle.list_call_sizes(batch, micro_batch_size), batch]


@instead_of(oracle.compute_squared_error, "the loss is the mean absolute error, not the mean squared error")
def absolute(error: Float[Array, "rows"]) -> tuple[float, Float[Array, "rows"]]:
    return float(np.mean(abs(error))), np.sign(error) / len(error)


@instead_of(
    oracle.add_gradients,
    "only the gradients of the last micro-batch remain: add those of all micro-batches to the existing ones",
)
def last_alone(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    return parts[-1]


@instead_of(oracle.add_gradients, "the new gradients replace existing ones instead of being added to them")
def begins_from_zero(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    return sum(parts[1:], parts[0])


@instead_of(oracle.add_gradients, "the gradients have the wrong sign")
def flipped(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    return before - sum(parts)


@instead_of(oracle.sum_losses, "only the last micro-batch's part of the loss is returned")
def last_part(parts: Sequence[float]) -> float:
    return parts[-1]


@instead_of(oracle.split_rows, "micro_batch_size is used as the number of micro-batches, as in torch.chunk")
def chunked(batch: int, micro_batch_size: int) -> list[int]:
    return oracle.split_rows(batch, -(-batch // micro_batch_size))


@instead_of(oracle.accumulate, "each micro-batch's mean is weighted by micro_batch_size, even if it has fewer rows")
def all_of_the_same_size(weights: Weights, before: Weights, x: X, y: Y, micro_batch_size: int) -> Accumulated:
    rows = oracle.split_rows(len(y), micro_batch_size)
    loss, grads = 0.0, [*before]
    for start, count in zip(np.cumsum(rows) - rows, rows, strict=True):
        part, share = slice(start, start + count), micro_batch_size / len(y)
        mean, slopes = oracle.accumulate(weights, [np.zeros_like(p) for p in before], x[part], y[part], count)
        loss, grads = loss + share * mean, [p + share * slope for p, slope in zip(grads, slopes, strict=True)]
    return loss, grads


@instead_of(oracle.list_call_sizes, SKIPPED)
def rest_not_called(batch: int, micro_batch_size: int) -> list[int]:
    return oracle.list_call_sizes(batch - batch % min(micro_batch_size, batch), micro_batch_size)


@instead_of(oracle.accumulate, SKIPPED)
def rest_without_weight(weights: Weights, before: Weights, x: X, y: Y, micro_batch_size: int) -> Accumulated:
    kept = len(y) - len(y) % min(micro_batch_size, len(y))
    share, nothing = kept / len(y), [np.zeros_like(p) for p in before]
    loss, grads = oracle.accumulate(weights, nothing, x[:kept], y[:kept], micro_batch_size)
    return share * loss, [old + share * grad for old, grad in zip(before, grads, strict=True)]


@instead_of(oracle.accumulate, "existing gradients are also divided by the number of rows")
def divided_with_those_before(weights: Weights, before: Weights, x: X, y: Y, micro_batch_size: int) -> Accumulated:
    loss, grads = oracle.accumulate(weights, before, x, y, micro_batch_size)
    return loss, [grad - old + old / len(y) for grad, old in zip(grads, before, strict=True)]
