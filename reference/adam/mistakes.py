"""Mistakes in Adam."""

from typing import Any

import numpy as np

from reference import optimizer_mistakes
from reference.adam import moment_mistakes, oracle
from reference.adam.moment_mistakes import Moved, P, change_defaults, step_with
from reference.adam.oracle import State
from reference.optimizer_mistakes import change_default, ignore_own_option
from torchkata import instead_of

SHARED = [moment_mistakes, optimizer_mistakes]
other_default_of_beta1, other_default_of_beta2, other_default_of_epsilon = change_defaults(oracle.step)
option_of_constructor = ignore_own_option("eps", "weight_decay")
decayed_by_default = change_default(
    oracle.step, "weight_decay", "0", [1e-4, 1e-3, 1e-2, 1e-1], lambda own: {"weight_decay": own}
)


@instead_of(oracle.add_decay, "weight_decay is ignored")
def not_decayed(p: P, grad: P, weight_decay: float) -> P:
    return grad


@instead_of(oracle.add_decay, "weight_decay pushes the parameter away from 0")
def decayed_away(p: P, grad: P, weight_decay: float) -> P:
    return grad - weight_decay * p


@instead_of(oracle.add_decay, "2 * weight_decay * p is added to the gradient instead of weight_decay * p")
def decayed_twice(p: P, grad: P, weight_decay: float) -> P:
    return grad + 2 * weight_decay * p


@instead_of(oracle.add_decay, "weight_decay * sign(p) is added to the gradient instead of weight_decay * p")
def decayed_by_the_sign(p: P, grad: P, weight_decay: float) -> P:
    return grad + weight_decay * np.sign(p)


@instead_of(oracle.step, "lr * weight_decay * p is added to the gradient instead of weight_decay * p: lr applies twice")
def decayed_at_the_rate(
    p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any
) -> Moved:
    return oracle.step(p, state, grad, lr, weight_decay=lr * weight_decay, **options)


@instead_of(oracle.step, "weight_decay * p is added to the gradient in m, but not to the gradient that is squared in v")
def decayed_in_the_first_only(
    p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any
) -> Moved:
    return step_with(p, state, (oracle.add_decay(p, grad, weight_decay), grad), lr, **options)


@instead_of(oracle.step, "weight_decay * p is added to the gradient that is squared in v, but not to the gradient in m")
def decayed_in_the_second_only(
    p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any
) -> Moved:
    return step_with(p, state, (grad, oracle.add_decay(p, grad, weight_decay)), lr, **options)


@instead_of(oracle.step, "weight_decay shrinks the parameter directly, as in AdamW")
def decoupled(p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any) -> Moved:
    return oracle.step(p * (1 - lr * weight_decay), state, grad, lr, **options)


@instead_of(oracle.step, "weight_decay shrinks the parameter directly, and only after the update")
def decoupled_afterwards(
    p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any
) -> Moved:
    moved, state = oracle.step(p, state, grad, lr, **options)
    return moved * (1 - lr * weight_decay), state


@instead_of(
    oracle.step, "the parameter is multiplied by 1 - weight_decay: add weight_decay * p to the gradient instead"
)
def shrunk_without_rate(
    p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any
) -> Moved:
    return oracle.step(p * (1 - weight_decay), state, grad, lr, **options)


@instead_of(oracle.step, "the defaults of beta1 and beta2 are swapped")
def swapped_defaults(p: P, state: State | None, grad: P, lr: float, **options: Any) -> Moved:
    return oracle.step(p, state, grad, lr, **{"betas": (0.999, 0.9), **options})
