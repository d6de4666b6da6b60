"""Trains a deep linear model by gradient descent on the mean squared error, and lists the calls that training makes."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.cruncher import oracle as cruncher
from reference.sgd import oracle as sgd


def train(
    weights: Sequence[Float[Array, "d k"]],
    batches: Sequence[tuple[Float[Array, "batch d"], Float[Array, "batch"]]],
    lr: float,
) -> tuple[list[Float[Array, "d k"]], list[float]]:
    """Return the weights after one step per batch, and the loss of each step before its update."""
    losses: list[float] = []
    current = list(weights)
    for x, y in batches:
        error = cruncher.forward(current, x) - y
        losses.append(float(np.mean(error**2)))
        grads, _ = cruncher.backward(current, x, 2 * error / len(y))
        current = [sgd.step(w, g, lr) for w, g in zip(current, grads, strict=True)]
    return current, losses


def asked(rows: int, dim: int, steps: int) -> list[int]:  # noqa: ARG001
    """Return the batch sizes that are requested from get_batch."""
    return [rows] * steps


def seen_by_sgd(steps: int, lr: float) -> dict[str, object]:
    """Return the events and learning rates of a run whose SGD changes no weights. No other code may change weights."""
    return {"events": ["batch", "step"] * steps, "rates": [lr], "weights move": False}


def built(dim: int, num_layers: int, device: str, steps: int) -> dict[str, object]:
    """Describe a model after a few steps: the devices and number of its parameters, and the number of losses."""
    return {"devices": [device], "parameters": cruncher.num_parameters(dim, num_layers), "losses": steps}
