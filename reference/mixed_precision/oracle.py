"""One step of training in two precisions; the model is a product of matrices. Its numbers are exact, unrounded."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.cruncher import oracle as cruncher


def share(rows: int) -> float:
    """How much each row counts."""
    return 1 / rows


def squared(error: Float[Array, "batch"]) -> tuple[Float[Array, "batch"], Float[Array, "batch"]]:
    """What each row's error costs, and the slope of that."""
    return error**2, 2 * error


def loss(weights: Sequence[Float[Array, "d k"]], x: Float[Array, "batch d"], y: Float[Array, "batch"]) -> float:
    """The mean squared error."""
    costs, _ = squared(cruncher.forward(weights, x) - y)
    return share(len(y)) * float(np.sum(costs))


def returned(
    weights: Sequence[Float[Array, "d k"]],
    after: Sequence[Float[Array, "d k"]],  # noqa: ARG001  (a mistake goes by them)
    x: Float[Array, "batch d"],
    y: Float[Array, "batch"],
) -> float:
    """The loss that comes back: that of the weights before the step, not of those `after` it."""
    return loss(weights, x, y)


def start(before: Float[Array, "d k"]) -> Float[Array, "d k"]:
    """What a step's gradient is added to, where the one `before` was left in place."""
    return np.zeros_like(before)


def gradients(
    weights: Sequence[Float[Array, "d k"]],
    before: Sequence[Float[Array, "d k"]],
    x: Float[Array, "batch d"],
    y: Float[Array, "batch"],
) -> list[Float[Array, "d k"]]:
    """The gradients that the optimizer steps with; `before` are those that were there."""
    _, slopes = squared(cruncher.forward(weights, x) - y)
    grads, _ = cruncher.backward(weights, x, share(len(y)) * slopes)
    return [start(old) + grad for old, grad in zip(before, grads, strict=True)]


def step(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    """The parameter after a first step."""
    return p - lr * grad
