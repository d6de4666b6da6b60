"""Mistakes in SGD."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference import optimizer_mistakes
from reference import optimizers as course
from reference.optimizer_mistakes import Grads, Lrs
from reference.optimizers import Inputs
from reference.sgd import oracle
from torchkata import instead_of

SHARED = [optimizer_mistakes]
P = Float[Array, "*shape"]


@instead_of(oracle.step, "the gradient is added instead of subtracted")
def uphill(p: P, grad: P, lr: float) -> P:
    return p + lr * grad


@instead_of(oracle.step, "the gradient is not multiplied by lr")
def without_rate(p: P, grad: P, lr: float) -> P:
    return p - grad


@instead_of(
    oracle.step,
    "the parameters do not change: is the result written back to them, and are their gradients still there?",
)
def written_nowhere(p: P, grad: P, lr: float) -> P:
    return p


@instead_of(oracle.step, "the gradient is divided by its norm")
def normalised(p: P, grad: P, lr: float) -> P:
    return p - lr * grad / (np.linalg.norm(grad) + 1e-12)


@instead_of(oracle.step, "only the sign of the gradient is used")
def sign(p: P, grad: P, lr: float) -> P:
    return p - lr * np.sign(grad)


@instead_of(oracle.step, "the update is divided by the number of elements in the parameter")
def averaged(p: P, grad: P, lr: float) -> P:
    return p - lr * grad / max(1, p.size)


@instead_of(oracle.step, "weight decay of {decay:g} is applied", decay=[1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
def decayed(p: P, grad: P, lr: float, decay: float) -> P:
    return p - lr * (grad + decay * p)


@instead_of(oracle.step, "parameters without dimensions (scalars) are not updated")
def scalars_skipped(p: P, grad: P, lr: float) -> P:
    return oracle.step(p, grad, lr) if p.ndim else p


@instead_of(course.collect_inputs, "gradients are summed over the steps")
def adding_up(lrs: Lrs, grads: Grads, group: int, i: int) -> Inputs:
    return add_momentum(course.collect_inputs(lrs, grads, group, i), 1.0)


@instead_of(course.collect_inputs, "a momentum of {kept:g} is applied", kept=[0.5, 0.9, 0.95, 0.99])
def momentum(lrs: Lrs, grads: Grads, group: int, i: int, kept: float) -> Inputs:
    return add_momentum(course.collect_inputs(lrs, grads, group, i), kept)


def add_momentum(inputs: Inputs, kept: float) -> Inputs:
    """Replace each gradient with the decaying sum of all gradients so far."""
    total: Array | float = 0.0
    summed: Inputs = []
    for grad, lr in inputs:
        if grad is not None:
            total = kept * total + grad
        summed.append((None if grad is None else np.asarray(total), lr))
    return summed
