"""One step of training in two precisions; the model is a product of matrices. Its numbers are exact, unrounded."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from . import cruncher


def precisions() -> dict[str, str]:
    """Which dtype each part of a step has."""
    return {
        "products in the forward pass": "bfloat16",
        "parameters": "float32",
        "gradients": "float32",
        "optimizer's state": "float32",
    }


def share(rows: int) -> float:
    """How much each row counts."""
    return 1 / rows


def loss(weights: Sequence[Float[Array, "d k"]], x: Float[Array, "batch d"], y: Float[Array, "batch"]) -> float:
    """The mean squared error."""
    return share(len(y)) * float(np.sum((cruncher.forward(weights, x) - y) ** 2))


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
    error = cruncher.forward(weights, x) - y
    grads, _ = cruncher.backward(weights, x, 2 * share(len(y)) * error)
    return [start(old) + grad for old, grad in zip(before, grads, strict=True)]


def step(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    """The parameter after a first step."""
    return p - lr * grad
