"""Gradient descent of a deep linear model on the mean squared error."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from . import cruncher, sgd


def train(
    weights: Sequence[Float[Array, "d k"]],
    batches: Sequence[tuple[Float[Array, "batch d"], Float[Array, "batch"]]],
    lr: float,
) -> tuple[list[Float[Array, "d k"]], list[float]]:
    """The weights after one step for each batch, and each step's loss before its update."""
    losses: list[float] = []
    current = list(weights)
    for x, y in batches:
        error = cruncher.forward(current, x) - y
        losses.append(float(np.mean(error**2)))
        grads, _ = cruncher.backward(current, x, 2 * error / len(y))
        current = [sgd.step(w, g, lr) for w, g in zip(current, grads, strict=True)]
    return current, losses
