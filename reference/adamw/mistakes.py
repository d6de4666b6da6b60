"""Mistakes in AdamW."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reference import optimizers as course
from reference.adam import oracle as adam
from reference.adam.moment_mistakes import *  # noqa: F403
from reference.adam.moment_mistakes import Moved, P, other_numbers
from reference.adam.oracle import Betas, Memory
from reference.adamw import oracle
from reference.optimizer_mistakes import *  # noqa: F403
from reference.optimizer_mistakes import other_number
from torchkata import instead_of

globals().update(other_numbers(oracle.step))
other_default_of_decay = other_number(
    oracle.step, "weight_decay", "0.01", [0.0, 1e-4, 1e-3, 0.05, 0.1], lambda own: {"weight_decay": own}
)


@instead_of(oracle.decayed, "weight_decay is ignored")
def not_decayed(p: P, lr: float, weight_decay: float) -> P:
    return p


@instead_of(oracle.decayed, "lr is missing from the decay")
def without_rate(p: P, lr: float, weight_decay: float) -> P:
    return p * (1 - weight_decay)


@instead_of(oracle.decayed, "the parameter is multiplied by lr * weight_decay, not by 1 minus that")
def all_but_gone(p: P, lr: float, weight_decay: float) -> P:
    return p * (lr * weight_decay)


@instead_of(oracle.decayed, "the decay pushes the parameter away from 0")
def decayed_away(p: P, lr: float, weight_decay: float) -> P:
    return p * (1 + lr * weight_decay)


@instead_of(oracle.decayed, "only parameters of two dimensions or more decay; all should")
def only_matrices_decayed(p: P, lr: float, weight_decay: float) -> P:
    return oracle.decayed(p, lr, weight_decay) if p.ndim > 1 else p


@instead_of(oracle.step, "where the gradient is zero the parameter does not decay, as if it had none")
def not_decayed_at_zero(p: P, memory: Memory | None, grad: P, lr: float, **options: Any) -> Moved:
    return oracle.step(p, memory, grad, lr, **(options if grad.any() else options | {"weight_decay": 0.0}))


@instead_of(course.parameter_without_gradient, "a parameter without gradient decays; it should stay as it is")
def decayed_without_gradient(p: P, options: Mapping[str, Any]) -> P:
    return oracle.decayed(p, options["lr"], options.get("weight_decay", 0.01))


@instead_of(oracle.step, "weight_decay joins the gradient, as in Adam")
def coupled(p: P, memory: Memory | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any) -> Moved:
    return adam.step(p, memory, grad, lr, weight_decay=weight_decay, **options)


@instead_of(oracle.step, "weight_decay shrinks p, and joins the gradient as well")
def coupled_as_well(
    p: P, memory: Memory | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any
) -> Moved:
    moved, memory = adam.step(p, memory, grad, lr, weight_decay=weight_decay, **options)
    return moved - p + oracle.decayed(p, lr, weight_decay), memory


@instead_of(oracle.step, "weight_decay shrinks p, and joins the average of the gradient as well")
def coupled_in_the_average(
    p: P,
    memory: Memory | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> Moved:
    m, v, t = memory or (np.zeros_like(p), np.zeros_like(p), 0)
    m, _ = adam.averages(m, v, adam.decayed(p, grad, weight_decay), betas)
    _, v = adam.averages(m, v, grad, betas)
    of_m, of_v = adam.corrections(t + 1, betas)
    return oracle.decayed(p, lr, weight_decay) - lr * adam.direction(m / of_m, v / of_v, eps), (m, v, t + 1)


@instead_of(oracle.step, "the decay comes after the update, and shrinks that, too")
def decayed_afterwards(
    p: P, memory: Memory | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any
) -> Moved:
    moved, memory = adam.step(p, memory, grad, lr, **options)
    return oracle.decayed(moved, lr, weight_decay), memory


@instead_of(oracle.step, "the decay is scaled by lr / (1 - beta1ᵗ): bias correction is for the averages alone")
def decayed_at_the_corrected_rate(
    p: P,
    memory: Memory | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> Moved:
    t = memory[-1] if memory else 0
    of_m, _ = adam.corrections(t + 1, betas)
    return oracle.step(p, memory, grad, lr, betas, eps, weight_decay / of_m)


@instead_of(oracle.step, "the decay is divided by the root, as the average of the gradient is")
def decayed_over_the_root(
    p: P,
    memory: Memory | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> Moved:
    moved, (m, v, t) = adam.step(p, memory, grad, lr, betas, eps)
    _, of_v = adam.corrections(t, betas)
    return moved - lr * adam.direction(weight_decay * p, v / of_v, eps), (m, v, t)


@instead_of(oracle.step, "the decay uses an lr from the start: a changed lr counts for the update only")
def decayed_at_the_first_rate(
    p: P, memory: Any, grad: P, lr: float, weight_decay: float = 0.01, **options: Any
) -> tuple[P, Any]:
    inner, first = memory or (None, lr)
    moved, inner = adam.step(oracle.decayed(p, first, weight_decay), inner, grad, lr, **options)
    return moved, (inner, first)


@instead_of(oracle.step, "a group's own weight_decay is not used")
def constant_decay(
    p: P, memory: Memory | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any
) -> Moved:
    return oracle.step(p, memory, grad, lr, **options)
