"""Mistakes in Adam."""

from typing import Any

import numpy as np

from reference.adam import oracle
from reference.adam.moment_mistakes import *  # noqa: F403
from reference.adam.moment_mistakes import Moved, P, change_defaults
from reference.adam.oracle import Betas, State
from reference.optimizer_mistakes import *  # noqa: F403
from reference.optimizer_mistakes import change_default
from torchkata import instead_of

globals().update(change_defaults(oracle.step))
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


@instead_of(oracle.step, "weight_decay * p is added to the first moment only, not to the second")
def decayed_in_the_first_only(
    p: P,
    state: State | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> Moved:
    return step_with(p, state, (oracle.add_decay(p, grad, weight_decay), grad), lr, betas, eps)


@instead_of(oracle.step, "weight_decay * p is added to the second moment only, not to the first")
def decayed_in_the_second_only(
    p: P,
    state: State | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> Moved:
    return step_with(p, state, (grad, oracle.add_decay(p, grad, weight_decay)), lr, betas, eps)


def step_with(
    p: P, state: State | None, grads: tuple[P, P], lr: float, betas: Betas = (0.9, 0.999), eps: float = 1e-8
) -> Moved:
    """Take a step without decay in which each average gets its own gradient."""
    m, v, t = state or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = oracle.update_averages(m, v, grads[0], betas)[0], oracle.update_averages(m, v, grads[1], betas)[1]
    of_m, of_v = oracle.get_corrections(t + 1, betas)
    return p - lr * oracle.get_direction(m / of_m, v / of_v, eps), (m, v, t + 1)


@instead_of(oracle.step, "weight_decay shrinks the parameter directly, as in AdamW")
def decoupled(p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any) -> Moved:
    return oracle.step(p * (1 - lr * weight_decay), state, grad, lr, **options)
