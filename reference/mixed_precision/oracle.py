"""Performs one training step of a deep linear model, without any rounding."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.cruncher import oracle as cruncher


def share(rows: int) -> float:
    """Return each row's weight in the loss."""
    return 1 / rows


def squared(error: Float[Array, "batch"]) -> tuple[Float[Array, "batch"], Float[Array, "batch"]]:
    """Return each row's squared error and its derivative."""
    return error**2, 2 * error


def loss(weights: Sequence[Float[Array, "d k"]], x: Float[Array, "batch d"], y: Float[Array, "batch"]) -> float:
    """Return the mean squared error."""
    costs, _ = squared(cruncher.forward(weights, x) - y)
    return share(len(y)) * float(np.sum(costs))


def returned(
    weights: Sequence[Float[Array, "d k"]],
    after: Sequence[Float[Array, "d k"]],  # noqa: ARG001  (a mistake uses it)
    x: Float[Array, "batch d"],
    y: Float[Array, "batch"],
) -> float:
    """Return the loss that train_step should return. It uses the weights before the step, not those `after` it."""
    return loss(weights, x, y)


def start(before: Float[Array, "d k"]) -> Float[Array, "d k"]:
    """Return the value to which this batch's gradient is added: 0, not the gradient that exists `before` the step."""
    return np.zeros_like(before)


def gradients(
    weights: Sequence[Float[Array, "d k"]],
    before: Sequence[Float[Array, "d k"]],
    x: Float[Array, "batch d"],
    y: Float[Array, "batch"],
) -> list[Float[Array, "d k"]]:
    """Return the gradients that the optimizer uses. `before` contains the gradients that exist before the step."""
    _, slopes = squared(cruncher.forward(weights, x) - y)
    grads, _ = cruncher.backward(weights, x, share(len(y)) * slopes)
    return [start(old) + grad for old, grad in zip(before, grads, strict=True)]


def step(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    """Return the parameter after the first step."""
    return p - lr * grad
