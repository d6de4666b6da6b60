"""The gradients of a batch, gathered from micro-batches; the model is a product of matrices."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from . import cruncher


def cut(batch: int, micro_batch_size: int) -> list[int]:
    """The rows of each micro-batch."""
    return [min(micro_batch_size, batch - start) for start in range(0, batch, micro_batch_size)]


def shares(rows: Sequence[int]) -> list[float]:
    """How much each micro-batch's mean counts in the mean of the batch."""
    return [count / sum(rows) for count in rows]


def gathered(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    """What stands in `p.grad` at the end: what was there before, and each micro-batch's part."""
    return before + sum(parts)


def accumulate(
    weights: Sequence[Float[Array, "d k"]],
    before: Sequence[Float[Array, "d k"]],
    x: Float[Array, "batch d"],
    y: Float[Array, "batch"],
    micro_batch_size: int,
) -> tuple[float, list[Float[Array, "d k"]]]:
    """The mean squared error of the batch, and its gradients added to those before."""
    rows = cut(len(y), micro_batch_size)
    ends = np.cumsum(rows)
    loss, parts = 0.0, []
    for share, start, end in zip(shares(rows), ends - rows, ends, strict=True):
        error = cruncher.forward(weights, x[start:end]) - y[start:end]
        loss += share * float(np.mean(error**2))
        grads, _ = cruncher.backward(weights, x[start:end], 2 * error / len(error))
        parts.append([share * grad for grad in grads])
    return loss, [gathered(grad, part) for grad, part in zip(before, zip(*parts, strict=True), strict=True)]
