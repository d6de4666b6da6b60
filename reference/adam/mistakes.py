"""Mistakes in Adam."""

from typing import Any

import numpy as np

from reference.adam import oracle
from reference.adam.moment_mistakes import *  # noqa: F403
from reference.adam.moment_mistakes import Moved, P, other_numbers
from reference.adam.oracle import Betas, Memory
from reference.optimizer_mistakes import *  # noqa: F403
from reference.optimizer_mistakes import other_number
from torchkata import instead_of

globals().update(other_numbers(oracle.step))
decayed_by_default = other_number(
    oracle.step, "weight_decay", "0", [1e-4, 1e-3, 1e-2, 1e-1], lambda own: {"weight_decay": own}
)


@instead_of(oracle.decayed, "weight_decay is ignored")
def not_decayed(p: P, grad: P, weight_decay: float) -> P:
    return grad


@instead_of(oracle.decayed, "weight_decay pushes the parameter away from 0")
def decayed_away(p: P, grad: P, weight_decay: float) -> P:
    return grad - weight_decay * p


@instead_of(oracle.decayed, "twice weight_decay * p joins the gradient; once is right")
def decayed_twice(p: P, grad: P, weight_decay: float) -> P:
    return grad + 2 * weight_decay * p


@instead_of(oracle.decayed, "the sign of p joins the gradient, times weight_decay; p itself should")
def decayed_by_the_sign(p: P, grad: P, weight_decay: float) -> P:
    return grad + weight_decay * np.sign(p)


@instead_of(oracle.step, "lr scales the decay twice: weight_decay * p alone joins the gradient, without lr")
def decayed_at_the_rate(
    p: P, memory: Memory | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any
) -> Moved:
    return oracle.step(p, memory, grad, lr, weight_decay=lr * weight_decay, **options)


@instead_of(oracle.step, "weight_decay * p joins the average of the gradient, and not that of its square")
def decayed_in_the_first_only(
    p: P,
    memory: Memory | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> Moved:
    return averaging(p, memory, (oracle.decayed(p, grad, weight_decay), grad), lr, betas, eps)


@instead_of(oracle.step, "weight_decay * p joins the gradient that is squared, and not the other average's")
def decayed_in_the_second_only(
    p: P,
    memory: Memory | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> Moved:
    return averaging(p, memory, (grad, oracle.decayed(p, grad, weight_decay)), lr, betas, eps)


def averaging(
    p: P, memory: Memory | None, grads: tuple[P, P], lr: float, betas: Betas = (0.9, 0.999), eps: float = 1e-8
) -> Moved:
    """A step without decay, where each of the averages takes in a gradient of its own."""
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, v = oracle.averages(m, v, grads[0], betas)[0], oracle.averages(m, v, grads[1], betas)[1]
    of_m, of_v = oracle.corrections(t + 1, betas)
    return p - lr * oracle.direction(m / of_m, v / of_v, eps), (m, v, t + 1)


@instead_of(oracle.step, "weight_decay shrinks the parameter itself: that is AdamW")
def decoupled(p: P, memory: Memory | None, grad: P, lr: float, weight_decay: float = 0.0, **options: Any) -> Moved:
    return oracle.step(p * (1 - lr * weight_decay), memory, grad, lr, **options)
