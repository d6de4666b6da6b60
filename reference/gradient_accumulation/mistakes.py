"""Mistakes in accumulating gradients."""

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


@instead_of(oracle.shares, "every micro-batch counts alike, the smaller last one, too")
def all_alike(rows: Sequence[int]) -> list[float]:
    return [1 / len(rows) for _ in rows]


@instead_of(oracle.shares, "the micro-batches' means are added up, and never divided by how many there are")
def undivided(rows: Sequence[int]) -> list[float]:
    return [1.0 for _ in rows]


@instead_of(oracle.shares, "the squared errors are added up, and never divided by the rows of the batch")
def sum_of_squares(rows: Sequence[int]) -> list[float]:
    return [float(count) for count in rows]


@instead_of(oracle.shares, "every micro-batch is divided by micro_batch_size, the smaller last one, too")
def all_full(rows: Sequence[int]) -> list[float]:
    return [count / (max(rows) * len(rows)) for count in rows]


@instead_of(oracle.cut, "the whole batch goes through the model at once")
def uncut(batch: int, micro_batch_size: int) -> list[int]:
    return [batch]


@instead_of(oracle.cut, "the rows go through the model one at a time")
def row_by_row(batch: int, micro_batch_size: int) -> list[int]:
    return [1] * batch


@instead_of(oracle.cut, "the last, smaller micro-batch is left out")
def rest_dropped(batch: int, micro_batch_size: int) -> list[int]:
    return [micro_batch_size] * (batch // micro_batch_size) or [batch]


@instead_of(oracle.cut, "the last row of the batch is left out")
def last_row_dropped(batch: int, micro_batch_size: int) -> list[int]:
    return oracle.cut(max(1, batch - 1), micro_batch_size)


@instead_of(oracle.called_with, "the model is called twice for each micro-batch")
def called_twice(batch: int, micro_batch_size: int) -> list[int]:
    return 2 * oracle.called_with(batch, micro_batch_size)


@instead_of(oracle.called_with, "the model is called once more, with the whole batch")
def called_with_all(batch: int, micro_batch_size: int) -> list[int]:
    return [*oracle.called_with(batch, micro_batch_size), batch]


@instead_of(oracle.squared, "the loss is the mean absolute error, not the mean squared error")
def absolute(error: Float[Array, "rows"]) -> tuple[float, Float[Array, "rows"]]:
    return float(np.mean(abs(error))), np.sign(error) / len(error)


@instead_of(oracle.gathered, "the gradients are zeroed before each micro-batch: only the last one's are left")
def last_alone(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    return parts[-1]


@instead_of(oracle.gathered, "the gradients that were there before are thrown away")
def begins_from_zero(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    return sum(parts[1:], parts[0])


@instead_of(oracle.gathered, "the gradients have the wrong sign: a step would go uphill")
def flipped(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    return before - sum(parts)


@instead_of(oracle.returned, "only the last micro-batch's part of the loss comes back")
def last_part(parts: Sequence[float]) -> float:
    return parts[-1]


@instead_of(oracle.returned, "nothing comes back: the loss is not returned")
def returned_nothing(parts: Sequence[float]) -> None:
    return


@instead_of(oracle.cut, "micro_batch_size is taken for how many micro-batches there are, as torch.chunk takes it")
def chunked(batch: int, micro_batch_size: int) -> list[int]:
    return oracle.cut(batch, -(-batch // micro_batch_size))


@instead_of(oracle.accumulate, "each micro-batch's mean counts for micro_batch_size rows, however many it has")
def all_of_the_same_size(weights: Weights, before: Weights, x: X, y: Y, micro_batch_size: int) -> Accumulated:
    rows = oracle.cut(len(y), micro_batch_size)
    loss, grads = 0.0, [*before]
    for start, count in zip(np.cumsum(rows) - rows, rows, strict=True):
        part, share = slice(start, start + count), micro_batch_size / len(y)
        mean, slopes = oracle.accumulate(weights, [np.zeros_like(p) for p in before], x[part], y[part], count)
        loss, grads = loss + share * mean, [p + share * slope for p, slope in zip(grads, slopes, strict=True)]
    return loss, grads


@instead_of(oracle.accumulate, "the gradients that were there before are divided by the rows of the batch, too")
def divided_with_those_before(weights: Weights, before: Weights, x: X, y: Y, micro_batch_size: int) -> Accumulated:
    loss, grads = oracle.accumulate(weights, before, x, y, micro_batch_size)
    return loss, [grad - old + old / len(y) for grad, old in zip(grads, before, strict=True)]
