"""Accumulates a deep linear model's gradients over micro-batches."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.cruncher import oracle as cruncher


def split_rows(batch: int, micro_batch_size: int) -> list[int]:
    """Return the number of rows of each micro-batch."""
    return [min(micro_batch_size, batch - start) for start in range(0, batch, micro_batch_size)]


def list_call_sizes(batch: int, micro_batch_size: int) -> list[int]:
    """Return the number of rows in each call of the model, which is called once per micro-batch."""
    return split_rows(batch, micro_batch_size)


def get_weights(rows: Sequence[int], micro_batch_size: int) -> list[float]:  # noqa: ARG001  (mistakes use it)
    """Return the weight of the gradients of each micro-batch's mean."""
    return [count / sum(rows) for count in rows]


def get_loss_weights(rows: Sequence[int], micro_batch_size: int) -> list[float]:  # noqa: ARG001  (mistakes use it)
    """Return the weight of each micro-batch's mean in the returned loss."""
    return [count / sum(rows) for count in rows]


def compute_squared_error(error: Float[Array, "rows"]) -> tuple[float, Float[Array, "rows"]]:
    """Return the mean squared error of a micro-batch and its gradient with respect to each output."""
    return float(np.mean(error**2)), 2 * error / len(error)


def add_gradients(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    """Return the final `p.grad`: the existing gradient plus the contribution of each micro-batch."""
    return before + sum(parts)


def sum_losses(parts: Sequence[float]) -> float:
    """Return the loss of the batch, given the contribution of each micro-batch."""
    return sum(parts)


def accumulate(
    weights: Sequence[Float[Array, "d k"]],
    before: Sequence[Float[Array, "d k"]],
    x: Float[Array, "batch d"],
    y: Float[Array, "batch"],
    micro_batch_size: int,
) -> tuple[float, list[Float[Array, "d k"]]]:
    """Return the mean squared error of the batch, and the existing gradients plus the gradients of this error."""
    rows = split_rows(len(y), micro_batch_size)
    ends = np.cumsum(rows)
    losses, parts = [], []
    shares, of_losses = get_weights(rows, micro_batch_size), get_loss_weights(rows, micro_batch_size)
    for share, of_loss, start, end in zip(shares, of_losses, ends - rows, ends, strict=True):
        loss, slope = compute_squared_error(cruncher.forward(weights, x[start:end]) - y[start:end])
        grads, _ = cruncher.backward(weights, x[start:end], slope)
        losses.append(of_loss * loss)
        parts.append([share * grad for grad in grads])
    grads = [add_gradients(grad, part) for grad, part in zip(before, zip(*parts, strict=True), strict=True)]
    return sum_losses(losses), grads
