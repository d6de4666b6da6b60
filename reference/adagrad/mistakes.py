"""Mistakes in AdaGrad."""

from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference import optimizer_mistakes
from reference import optimizers as course
from reference.adagrad import oracle
from reference.adagrad.oracle import EPSILON
from reference.optimizer_mistakes import Grads
from torchkata import instead_of

SHARED = [optimizer_mistakes]
P: TypeAlias = Float[Array, "*shape"]
Moved: TypeAlias = tuple[P, P]

KEPT = [0.5, 0.9, 0.95, 0.99, 0.999]  # decay factors of an average or sum


@instead_of(oracle.step, "the update is added instead of subtracted")
def uphill(p: P, g2: P, grad: P, lr: float) -> Moved:
    moved, g2 = oracle.step(p, g2, grad, lr)
    return 2 * p - moved, g2


@instead_of(oracle.step, "the 1e-5 is added outside the square root")
def epsilon_outside(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad / (np.sqrt(g2) + EPSILON), g2


@instead_of(
    oracle.step,
    "{eps:g} is added outside the root instead of 1e-5 inside it",
    eps=[1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-3],
)
def other_epsilon_outside(p: P, g2: P, grad: P, lr: float, eps: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad / (np.sqrt(g2) + eps), g2


@instead_of(
    oracle.step,
    "the number added inside the square root is {eps:g} instead of 1e-5",
    eps=[1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-3],
)
def other_epsilon(p: P, g2: P, grad: P, lr: float, eps: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad / np.sqrt(g2 + eps), g2


@instead_of(oracle.step, "the 1e-5 inside the square root is missing")
def no_epsilon(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad / np.sqrt(g2), g2


@instead_of(oracle.step, "1e-5 is used as a lower bound (clamp) inside the square root instead of being added")
def floor(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad / np.sqrt(np.maximum(g2, EPSILON)), g2


@instead_of(oracle.step, "1e-5 is added to grad / sqrt(g2), after the division: parentheses are missing")
def epsilon_after_division(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * (grad / np.sqrt(g2) + EPSILON), g2


@instead_of(oracle.step, "1e-5 is added to 1 / sqrt(g2), after the division")
def epsilon_after_root(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad * (1 / np.sqrt(g2) + EPSILON), g2


@instead_of(oracle.step, "the gradient is divided by g2 + 1e-5 without taking the square root")
def no_root(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad / (g2 + EPSILON), g2


@instead_of(oracle.step, "1e-5 is added to the whole update, lr * grad / sqrt(g2): parentheses are missing")
def epsilon_after_update(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - (lr * grad / np.sqrt(g2) + EPSILON), g2


@instead_of(oracle.step, "the update is lr / sqrt(g2 + 1e-5): it is not multiplied by the gradient")
def without_gradient(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr / np.sqrt(g2 + EPSILON), g2


@instead_of(oracle.step, "the gradient is multiplied by sqrt(g2 + 1e-5) instead of divided by it")
def multiplied(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2
    return p - lr * grad * np.sqrt(g2 + EPSILON), g2


@instead_of(oracle.step, "g2 is only the last squared gradient instead of the sum")
def last_square(p: P, g2: P, grad: P, lr: float) -> Moved:
    return oracle.step(p, np.zeros_like(g2), grad, lr)


@instead_of(oracle.step, "g2 is a running average with decay {kept:g}, as in RMSprop", kept=KEPT)
def rmsprop(p: P, g2: P, grad: P, lr: float, kept: float) -> Moved:
    g2 = kept * g2 + (1 - kept) * grad**2
    return p - lr * grad / np.sqrt(g2 + EPSILON), g2


@instead_of(oracle.step, "g2 is multiplied by {kept:g} in every step", kept=KEPT)
def fading_sum(p: P, g2: P, grad: P, lr: float, kept: float) -> Moved:
    return oracle.step(p, kept * g2, grad, lr)


@instead_of(oracle.step, "g2 is the largest squared gradient so far instead of the sum")
def largest(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = np.maximum(g2, grad**2)
    return p - lr * grad / np.sqrt(g2 + EPSILON), g2


@instead_of(oracle.step, "the first squared gradient is added twice")
def first_square_twice(p: P, g2: P, grad: P, lr: float) -> Moved:
    return oracle.step(p, np.where(g2 == 0, grad**2, g2), grad, lr)


@instead_of(course.hook_recalled_state, "the sum of squares is divided by the number of steps: it is not a mean")
def mean_of_squares(state: Any, grads: Grads, group: int, i: int, step: int) -> Any:
    grad, t = grads[step][group][i], sum(row[group][i] is not None for row in grads[:step]) + 1
    return state if grad is None or state is None else (state * (t - 1) + grad**2) / t - grad**2  # adds grad**2


@instead_of(oracle.step, "g2 starts at {start:g} instead of 0", start=[0.01, 0.1, 1.0])
def starts_higher(p: P, g2: P, grad: P, lr: float, start: float) -> Moved:
    return oracle.step(p, np.where(g2 == 0, start, g2), grad, lr)


@instead_of(oracle.step, "g2 starts at 1e-5, and the 1e-5 inside the square root is missing")
def starts_at_epsilon(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = np.where(g2 == 0, EPSILON, g2) + grad**2
    return p - lr * grad / np.sqrt(g2), g2


@instead_of(oracle.step, "1e-5 is added to g2 in every step, so it accumulates")
def epsilon_every_step(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad**2 + EPSILON
    return p - lr * grad / np.sqrt(g2), g2


@instead_of(oracle.step, "the update uses g2 from before the step, which lacks the new squared gradient")
def added_afterwards(p: P, g2: P, grad: P, lr: float) -> Moved:
    return p - lr * grad / np.sqrt(g2 + EPSILON), g2 + grad**2


@instead_of(oracle.step, "g2 is a sum of gradients, not of their squares")
def squared_sum(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + grad
    return p - lr * grad / np.sqrt(g2**2 + EPSILON), g2


@instead_of(oracle.step, "absolute values are summed instead of squares")
def absolute_values(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + abs(grad)
    return p - lr * grad / np.sqrt(g2 + EPSILON), g2


@instead_of(
    course.hook_recalled_state,
    "the square roots of the squared gradients are summed; take the square root of the sum instead",
)
def summed_roots(state: Any, grads: Grads, group: int, i: int, step: int) -> Any:
    grad = grads[step][group][i]
    if grad is None or not isinstance(state, (Array, np.floating)):
        return state
    return (np.sqrt(state) + abs(grad)) ** 2 - grad**2  # the step adds grad**2


@instead_of(oracle.step, "g2 is a single number: the squared gradient is summed over all elements of the parameter")
def one_number(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + (grad**2).sum()
    return p - lr * grad / np.sqrt(g2 + EPSILON), g2


@instead_of(oracle.step, "g2 is a single number: the squared gradient's mean over all elements is added to it")
def mean_square(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + (grad**2).mean() if grad.size else g2
    return p - lr * grad / np.sqrt(g2 + EPSILON), g2


@instead_of(oracle.step, "the squared gradients are weighted by lr² in g2")
def weighted(p: P, g2: P, grad: P, lr: float) -> Moved:
    g2 = g2 + (lr * grad) ** 2
    return p - lr * grad / np.sqrt(g2 / np.float64(lr) ** 2 + EPSILON), g2


@instead_of(oracle.get_state, 'the sum is not stored in state[p]["g2"]')
def kept_elsewhere(g2: P) -> None:
    return


@instead_of(oracle.get_state, 'state[p]["g2"] holds the square root of the sum')
def root_kept(g2: P) -> P:
    return np.sqrt(g2)


@instead_of(oracle.get_state, 'state[p]["g2"] is flattened instead of having the parameter\'s shape')
def flat(g2: P) -> P:
    return g2.reshape(-1)
