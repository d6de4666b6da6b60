"""Mistakes in the batches and the loss of a training loop."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.cruncher import oracle as cruncher
from reference.train import oracle
from torchkata import Mistake, instead_of

Weights: TypeAlias = Sequence[Float[Array, "d k"]]
Batches: TypeAlias = Sequence[tuple[Float[Array, "batch d"], Float[Array, "batch"]]]
Run: TypeAlias = tuple[Weights, list[float]]
Loss: TypeAlias = Callable[[Array, Array, int], tuple[float, Array]]  # (outputs, targets, width) → (loss, slope)
Update: TypeAlias = Callable[[Weights, Weights], Weights]  # (weights, gradients) → weights

ONE_BATCH = "one batch is used for all steps"
TWO_CALLS = "get_batch is called 2 · num_train_steps times"


def squared(out: Array, y: Array, width: int) -> tuple[float, Array]:
    """Return the mean squared error and its derivative with respect to each output."""
    return float(np.mean((out - y) ** 2)), 2 * (out - y) / len(y)


def descend(weights: Weights, batches: Batches, update: Update, loss: Loss = squared) -> Run:
    """Take one step per batch, and return the weights and the loss before each step."""
    losses = []
    for x, y in batches:
        value, slope = loss(cruncher.forward(weights, x), y, x.shape[1])
        weights = update(weights, cruncher.backward(weights, x, slope)[0])
        losses.append(value)
    return weights, losses


def downhill(lr: float, *, times: int = 1) -> Update:
    """Return a gradient descent update that subtracts `times * lr * grad`."""
    return lambda weights, grads: [w - times * lr * g for w, g in zip(weights, grads, strict=True)]


def minimize(message: str) -> Callable[[Loss], Mistake]:
    """Return a decorator that turns a loss into a mistake that minimizes this loss."""
    return lambda loss: instead_of(oracle.train, message)(
        lambda weights, batches, lr: descend(weights, batches, downhill(lr), loss)
    )


@instead_of(oracle.train, "the loss is computed after the update")
def loss_afterwards(weights: Weights, batches: Batches, lr: float) -> Run:
    losses = []
    for x, y in batches:
        weights = oracle.train(weights, [(x, y)], lr)[0]
        losses.append(squared(cruncher.forward(weights, x), y, 0)[0])
    return weights, losses


@instead_of(oracle.train, "each returned loss is the mean of all losses so far")
def running_mean(weights: Weights, batches: Batches, lr: float) -> Run:
    weights, losses = oracle.train(weights, batches, lr)
    return weights, [float(np.mean(losses[: t + 1])) for t in range(len(losses))]


@instead_of(oracle.train, "the losses are rounded to four decimal places")
def rounded(weights: Weights, batches: Batches, lr: float) -> Run:
    weights, losses = oracle.train(weights, batches, lr)
    return weights, [round(loss, 4) for loss in losses]


@instead_of(oracle.train, "the losses are divided by the batch size a second time")
def divided_again(weights: Weights, batches: Batches, lr: float) -> Run:
    weights, losses = oracle.train(weights, batches, lr)
    return weights, [loss / len(y) for loss, (_, y) in zip(losses, batches, strict=True)]


@minimize("the squared errors are summed, not averaged")
def summed(out: Array, y: Array, width: int) -> tuple[float, Array]:
    return float(((out - y) ** 2).sum()), 2 * (out - y)


@minimize("half the mean squared error is minimized")
def halved(out: Array, y: Array, width: int) -> tuple[float, Array]:
    return squared(out, y, width)[0] / 2, (out - y) / len(y)


@minimize("the mean absolute error is minimized")
def absolute(out: Array, y: Array, width: int) -> tuple[float, Array]:
    return float(abs(out - y).mean()), np.sign(out - y) / len(y)


@minimize("the root of the mean squared error is minimized")
def rooted(out: Array, y: Array, width: int) -> tuple[float, Array]:
    value, slope = squared(out, y, width)
    return float(np.sqrt(value)), slope / (2 * np.sqrt(value))


@minimize("the mean is taken before the square")
def mean_first(out: Array, y: Array, width: int) -> tuple[float, Array]:
    mean = float((out - y).mean())
    return mean**2, np.full(len(y), 2 * mean / len(y))


@minimize("the sum of the squared errors is divided by D, not by the batch size")
def over_width(out: Array, y: Array, width: int) -> tuple[float, Array]:
    return float(((out - y) ** 2).sum()) / width, 2 * (out - y) / width


@minimize("every output is compared with every target, as when (B, 1) and (B,) broadcast to (B, B)")
def all_pairs(out: Array, y: Array, width: int) -> tuple[float, Array]:
    errors = out[:, None] - y[None, :]
    return float((errors**2).mean()), 2 * errors.mean(1) / len(y)


@instead_of(oracle.train, "targets are added to the outputs instead of being subtracted")
def added(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train(weights, [(x, -y) for x, y in batches], lr)


@instead_of(oracle.train, ONE_BATCH)
def one_batch(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train(weights, [*batches[:1]] * len(batches), lr)


@instead_of(oracle.asked, "get_batch is called only once")
def asked_once(rows: int, dim: int, steps: int) -> list[int]:
    return [rows]


@instead_of(oracle.seen_by_sgd, ONE_BATCH)
def one_batch_seen(steps: int, lr: float) -> dict[str, object]:
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch"] + ["step"] * steps}


@instead_of(oracle.train, "x comes from one batch and y from another")
def two_batches(weights: Weights, batches: Batches, lr: float) -> Run:
    n = len(batches)
    return oracle.train(weights, [(batches[2 * t % n][0], batches[(2 * t + 1) % n][1]) for t in range(n)], lr)


@instead_of(oracle.asked, TWO_CALLS)
def asked_twice(rows: int, dim: int, steps: int) -> list[int]:
    return [rows] * (2 * steps)


@instead_of(oracle.seen_by_sgd, TWO_CALLS)
def two_batches_seen(steps: int, lr: float) -> dict[str, object]:
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch", "batch", "step"] * steps}


@instead_of(oracle.asked, "get_batch is called one time too many")
def asked_once_more(rows: int, dim: int, steps: int) -> list[int]:
    return [rows] * (steps + 1)


@instead_of(oracle.asked, "get_batch is called with B=1 before the first step")
def asked_to_look(rows: int, dim: int, steps: int) -> list[int]:
    return [1] + [rows] * steps


@instead_of(oracle.asked, "each batch has D rows instead of B")
def asked_for_width(rows: int, dim: int, steps: int) -> list[int]:
    return [dim] * steps


@instead_of(oracle.seen_by_sgd, "all batches are loaded before the first step")
def all_batches_first(steps: int, lr: float) -> dict[str, object]:
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch"] * steps + ["step"] * steps}


@instead_of(oracle.train, "the last row of each batch is dropped")
def last_row_dropped(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train(weights, [(x[: max(1, len(x) - 1)], y[: max(1, len(y) - 1)]) for x, y in batches], lr)


@instead_of(oracle.train, "the inputs of each batch are normalized first")
def normalised(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train(weights, [((x - x.mean(0)) / (x.std(0) + 1e-5), y) for x, y in batches], lr)
