"""Mistakes in RMSprop."""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference import optimizer_mistakes
from reference.optimizer_mistakes import DIVISOR_STORED, ROOT_STORED, change_default, ignore_own_option
from reference.rmsprop import oracle
from torchkata import instead_of

SHARED = [optimizer_mistakes]
P: TypeAlias = Float[Array, "*shape"]
Moved: TypeAlias = tuple[P, P]

EPSILONS = [1e-10, 1e-7, 1e-6, 1e-5, 1e-3]


@instead_of(oracle.update_average, "the squared gradients are summed without decay, as in AdaGrad")
def added_up(v: P | None, grad: P, alpha: float) -> P:
    return grad**2 + (0 if v is None else v)


@instead_of(oracle.update_average, "the new squared gradient is not multiplied by 1 - alpha")
def square_enters_whole(v: P | None, grad: P, alpha: float) -> P:
    return grad**2 + (0 if v is None else alpha * v)


@instead_of(oracle.update_average, "alpha and 1 - alpha are swapped: alpha should weight the old average")
def exchanged(v: P | None, grad: P, alpha: float) -> P:
    return (1 - alpha) * (0 if v is None else v) + alpha * grad**2


@instead_of(oracle.update_average, "the squared gradient is multiplied by 0.01, also where 1 - alpha is another number")
def share_of_its_own(v: P | None, grad: P, alpha: float) -> P:
    return 0.01 * grad**2 + (0 if v is None else alpha * v)


@instead_of(oracle.step, "the old average is multiplied by alpha**t in step t, not by alpha")
def decays_ever_faster(
    p: P, v: tuple[P, int] | None, grad: P, lr: float, alpha: float = 0.99, eps: float = 1e-8
) -> tuple[P, tuple[P, int]]:
    average, t = v or (np.zeros_like(grad), 0)
    average = alpha ** (t + 1) * average + (1 - alpha) * grad**2
    return p - lr * oracle.get_direction(average, grad, eps), (average, t + 1)


@instead_of(oracle.update_average, "alpha is 0.99 for every group, regardless of its options")
def alpha_of_its_own(v: P | None, grad: P, alpha: float) -> P:
    return oracle.update_average(v, grad, 0.99)


@instead_of(oracle.update_average, "the average is initialized to the first squared gradient instead of 0")
def starts_with_the_first_square(v: P | None, grad: P, alpha: float) -> P:
    return grad**2 if v is None else alpha * v + (1 - alpha) * grad**2


@instead_of(oracle.update_average, "the average starts at {start:g} instead of 0", start=[0.01, 0.1, 1.0])
def starts_higher(v: P | None, grad: P, alpha: float, start: float) -> P:
    return oracle.update_average(np.full_like(grad, start) if v is None else v, grad, alpha)


@instead_of(oracle.update_average, "averages the gradient's absolute value instead of its square")
def of_the_gradient(v: P | None, grad: P, alpha: float) -> P:
    return (alpha * np.sqrt(0 if v is None else v) + (1 - alpha) * abs(grad)) ** 2


@instead_of(
    oracle.update_average,
    "one average is kept for the whole parameter (of the mean squared gradient), not one per element",
)
def one_number(v: P | None, grad: P, alpha: float) -> P:
    mean: Array = np.mean(grad**2) if grad.size else np.zeros(())
    return (1 - alpha) * mean + (0 if v is None else alpha * v)


@instead_of(oracle.get_direction, "eps is added inside the square root")
def epsilon_inside(v: P, grad: P, eps: float) -> P:
    return grad / np.sqrt(v + eps)


@instead_of(oracle.get_direction, "eps is squared and added inside the square root")
def squared_epsilon_inside(v: P, grad: P, eps: float) -> P:
    return grad / np.sqrt(v + eps**2)


@instead_of(
    oracle.get_direction, "eps is used as a lower bound (clamp) for the square root instead of being added to it"
)
def floor(v: P, grad: P, eps: float) -> P:
    return grad / np.maximum(np.sqrt(v), eps)


@instead_of(oracle.get_direction, "eps is 1e-8 for every group, regardless of its options")
def epsilon_of_its_own(v: P, grad: P, eps: float) -> P:
    return oracle.get_direction(v, grad, 1e-8)


@instead_of(oracle.get_direction, "eps is missing")
def no_epsilon(v: P, grad: P, eps: float) -> P:
    return grad / np.sqrt(v)


@instead_of(oracle.get_direction, "the square root is missing")
def no_root(v: P, grad: P, eps: float) -> P:
    return grad / (v + eps)


@instead_of(oracle.get_direction, "the gradient is not divided by the square root")
def not_divided(v: P, grad: P, eps: float) -> P:
    return grad


@instead_of(oracle.step, "the average is divided by 1 - alpha**t: only Adam has this bias correction")
def corrected(
    p: P, v: tuple[P, int] | None, grad: P, lr: float, alpha: float = 0.99, eps: float = 1e-8
) -> tuple[P, tuple[P, int]]:
    average, t = v or (None, 0)
    average, t = oracle.update_average(average, grad, alpha), t + 1
    return p - lr * oracle.get_direction(average / (1 - alpha**t), grad, eps), (average, t)


@instead_of(
    oracle.step, "the squared mean of the gradient is subtracted before taking the root, as in torch with centered=True"
)
def centered(p: P, v: Moved | None, grad: P, lr: float, alpha: float = 0.99, eps: float = 1e-8) -> tuple[P, Moved]:
    average, mean = v or (None, np.zeros_like(grad))
    average, mean = oracle.update_average(average, grad, alpha), alpha * mean + (1 - alpha) * grad
    return p - lr * oracle.get_direction(average - mean**2, grad, eps), (average, mean)


@instead_of(
    oracle.step, "the parameter is updated with the average from before the step, which lacks the new squared gradient"
)
def one_step_late(p: P, v: P | None, grad: P, lr: float, alpha: float = 0.99, eps: float = 1e-8) -> Moved:
    before = np.zeros_like(p) if v is None else v
    return p - lr * oracle.get_direction(before, grad, eps), oracle.update_average(v, grad, alpha)


@instead_of(oracle.step, ROOT_STORED)
def root_stored(p: P, v: P | None, grad: P, lr: float, alpha: float = 0.99, eps: float = 1e-8) -> Moved:
    moved, v = oracle.step(p, v, grad, lr, alpha, eps)
    return moved, np.sqrt(v)


@instead_of(oracle.step, DIVISOR_STORED)
def divisor_stored(p: P, v: P | None, grad: P, lr: float, alpha: float = 0.99, eps: float = 1e-8) -> Moved:
    moved, v = oracle.step(p, v, grad, lr, alpha, eps)
    return moved, np.sqrt(v) + eps


@instead_of(oracle.step, "the update is added instead of subtracted")
def uphill(p: P, v: P | None, grad: P, lr: float, **options: float) -> Moved:
    return oracle.step(p, v, grad, -lr, **options)


option_of_constructor = ignore_own_option("alpha", "eps")
other_default_of_alpha = change_default(oracle.step, "alpha", "0.99", [0.9, 0.95, 0.999], lambda own: {"alpha": own})
other_default_of_epsilon = change_default(oracle.step, "eps", "1e-8", EPSILONS, lambda own: {"eps": own})
