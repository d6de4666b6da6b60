"""Mistakes in mixed precision."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray as Array

from reference.cruncher import oracle as cruncher
from reference.mixed_precision import oracle
from torchkata import instead_of

Weights: TypeAlias = Sequence[Float[Array, "d k"]]
X: TypeAlias = Float[Array, "batch d"]
Y: TypeAlias = Float[Array, "batch"]

NO_GRADIENTS = (
    "there are no gradients when optimizer.step() is called: do zero_grad(), backward() and step() run in this order?"
)

PAIRS = "every prediction is compared with every target: shapes (rows,) and (rows, 1) broadcast to (rows, rows)"


def round_to_bfloat16(values: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Round to the nearest values with 8 significant bits."""
    rounded: Array = torch.as_tensor(values).bfloat16().double().numpy()
    return rounded


@instead_of(
    oracle.step, "the parameters are rounded to bfloat16 before, during and after the step: they should stay float32"
)
def coarse_step(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    return round_to_bfloat16(round_to_bfloat16(p) - round_to_bfloat16(lr * grad))


@instead_of(oracle.gradients, NO_GRADIENTS)
def no_gradients(weights: Weights, before: Weights, x: X, y: Y) -> list[None]:
    return [None for _ in weights]


@instead_of(oracle.loss, "the loss is computed in bfloat16")
def coarse_loss(weights: Weights, x: X, y: Y) -> float:
    squares = round_to_bfloat16(round_to_bfloat16(cruncher.forward(weights, x) - round_to_bfloat16(y)) ** 2)
    return float(round_to_bfloat16(np.mean(squares)))


@instead_of(oracle.loss, "the targets are rounded to bfloat16")
def coarse_targets(weights: Weights, x: X, y: Y) -> float:
    return float(np.mean((cruncher.forward(weights, x) - round_to_bfloat16(y)) ** 2))


@instead_of(
    oracle.loss,
    "the difference of prediction and target is rounded to bfloat16: an in-place -= keeps the prediction's dtype",
)
def coarse_difference(weights: Weights, x: X, y: Y) -> float:
    return float(np.mean(round_to_bfloat16(cruncher.forward(weights, x) - y) ** 2))


@instead_of(oracle.loss, "the targets and the errors are rounded to bfloat16: subtract in float32")
def coarse_errors(weights: Weights, x: X, y: Y) -> float:
    return float(np.mean(round_to_bfloat16(cruncher.forward(weights, x) - round_to_bfloat16(y)) ** 2))


@instead_of(oracle.loss, "the errors and their squares are rounded to bfloat16; only the mean is computed in float32")
def coarse_squares(weights: Weights, x: X, y: Y) -> float:
    return float(
        np.mean(round_to_bfloat16(round_to_bfloat16(cruncher.forward(weights, x) - round_to_bfloat16(y)) ** 2))
    )


@instead_of(
    oracle.loss,
    "the errors and their squares are rounded to bfloat16, but not the targets; only the mean is computed in float32",
)
def coarse_errors_and_squares(weights: Weights, x: X, y: Y) -> float:
    return float(np.mean(round_to_bfloat16(round_to_bfloat16(cruncher.forward(weights, x) - y) ** 2)))


@instead_of(
    oracle.loss, "the errors and the sum of their squares are rounded to bfloat16, as by error @ error under autocast"
)
def coarse_product(weights: Weights, x: X, y: Y) -> float:
    total = round_to_bfloat16(np.sum(round_to_bfloat16(cruncher.forward(weights, x) - y) ** 2))
    return float(round_to_bfloat16(total / len(y)))


@instead_of(oracle.loss, "the returned loss is rounded to bfloat16")
def rounded_loss(weights: Weights, x: X, y: Y) -> float:
    return float(round_to_bfloat16(np.asarray(oracle.loss(weights, x, y))))


@instead_of(oracle.returned, "the loss is computed after the step")
def loss_afterwards(weights: Weights, after: Weights, x: X, y: Y) -> float:
    return oracle.loss(after, x, y)


@instead_of(oracle.loss, PAIRS)
def all_pairs(weights: Weights, x: X, y: Y) -> float:
    return float(np.mean((cruncher.forward(weights, x)[:, None] - y) ** 2))


@instead_of(oracle.gradients, PAIRS)
def all_pairs_backward(weights: Weights, before: Weights, x: X, y: Y) -> list[Float[Array, "d k"]]:
    return oracle.gradients(weights, before, x, np.full_like(y, np.mean(y)))


@instead_of(oracle.squared, "the loss is the mean absolute error, not the mean squared error")
def absolute(error: Y) -> tuple[Y, Y]:
    return abs(error), np.sign(error)


@instead_of(oracle.share, "the loss is a sum over the batch, not a mean")
def undivided(rows: int) -> float:
    return 1.0


@instead_of(
    oracle.start,
    "gradients that were there before the call are included: they are not zeroed before the backward pass",
)
def piled_up(before: Float[Array, "d k"]) -> Float[Array, "d k"]:
    return before


@instead_of(
    oracle.gradients,
    "the gradients are about {times:g} times too large, as if the loss were scaled up and the gradients never scaled "
    "back down",
    times=[2**7, 2**8, 2**10, 2**12, 2**15, 2**16],
)
def scaled(weights: Weights, before: Weights, x: X, y: Y, times: float) -> list[Float[Array, "d k"]]:
    return [times * grad for grad in oracle.gradients(weights, before, x, y)]


@instead_of(oracle.gradients, "the gradients are clipped to norm {most:g}", most=[0.1, 0.5, 1.0, 5.0, 10.0])
def clipped(weights: Weights, before: Weights, x: X, y: Y, most: float) -> list[Float[Array, "d k"]]:
    grads = oracle.gradients(weights, before, x, y)
    norm = float(np.sqrt(sum(np.sum(grad**2) for grad in grads)))
    return [grad * min(1.0, most / (norm + 1e-6)) for grad in grads]


@instead_of(oracle.step, "the parameters are rounded to bfloat16 before the step")
def coarse_parameters(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    return round_to_bfloat16(p) - lr * grad


@instead_of(oracle.step, "the parameters are rounded to bfloat16 after the step")
def coarse_update(p: Float[Array, "d k"], grad: Float[Array, "d k"], lr: float) -> Float[Array, "d k"]:
    return round_to_bfloat16(p - lr * grad)
