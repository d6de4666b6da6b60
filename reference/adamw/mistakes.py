"""Mistakes in AdamW."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reference import optimizer_mistakes
from reference import optimizers as course
from reference.adam import moment_mistakes
from reference.adam import oracle as adam
from reference.adam.moment_mistakes import Moved, P, change_defaults, step_with
from reference.adam.oracle import Betas, State
from reference.adamw import oracle
from reference.optimizer_mistakes import Options, change_default, ignore_own_option
from torchkata import Mistake, instead_of

SHARED = [moment_mistakes, optimizer_mistakes]
other_default_of_beta1, other_default_of_beta2, other_default_of_epsilon = change_defaults(oracle.step)
option_of_constructor = ignore_own_option("eps")
other_default_of_decay = change_default(
    oracle.step, "weight_decay", "0.01", [0.0, 1e-4, 1e-3, 0.05, 0.1], lambda own: {"weight_decay": own}
)


@instead_of(oracle.shrink, "weight_decay is ignored")
def not_decayed(p: P, lr: float, weight_decay: float) -> P:
    return p


@instead_of(oracle.shrink, "the decay is not multiplied by lr")
def without_rate(p: P, lr: float, weight_decay: float) -> P:
    return p * (1 - weight_decay)


@instead_of(oracle.shrink, "the parameter is multiplied by lr * weight_decay instead of 1 - lr * weight_decay")
def all_but_gone(p: P, lr: float, weight_decay: float) -> P:
    return p * (lr * weight_decay)


@instead_of(oracle.shrink, "the decay pushes the parameter away from 0")
def decayed_away(p: P, lr: float, weight_decay: float) -> P:
    return p * (1 + lr * weight_decay)


@instead_of(oracle.shrink, "the decay is {factor:g} times as large as it should be", factor=[2, 0.5])
def scaled_decay(p: P, lr: float, weight_decay: float, factor: float) -> P:
    return oracle.shrink(p, lr, factor * weight_decay)


@instead_of(oracle.shrink, "p is multiplied by 1 - lr * weight_decay twice in each step")
def decayed_twice(p: P, lr: float, weight_decay: float) -> P:
    return p * (1 - lr * weight_decay) ** 2


@instead_of(oracle.shrink, "lr * weight_decay is subtracted instead of lr * weight_decay * p")
def constant_subtracted(p: P, lr: float, weight_decay: float) -> P:
    return p - lr * weight_decay


@instead_of(
    oracle.shrink, "all elements move towards 0 by lr * weight_decay, regardless of their size, as with an L1 penalty"
)
def decayed_by_sign(p: P, lr: float, weight_decay: float) -> P:
    return p - lr * weight_decay * np.sign(p)


@instead_of(oracle.shrink, "only parameters with two or more dimensions decay")
def only_matrices_decayed(p: P, lr: float, weight_decay: float) -> P:
    return oracle.shrink(p, lr, weight_decay) if p.ndim > 1 else p


@instead_of(oracle.step, "a parameter with an all-zero gradient does not decay, as if its gradient were None")
def not_decayed_at_zero(p: P, state: State | None, grad: P, lr: float, **options: Any) -> Moved:
    return oracle.step(p, state, grad, lr, **(options if grad.any() else options | {"weight_decay": 0.0}))


@instead_of(course.hook_skipped_parameter, "a parameter without a gradient decays: skip it")
def decayed_without_gradient(p: P, options: Mapping[str, Any], state: State | None) -> P:
    return oracle.shrink(p, options["lr"], options.get("weight_decay", 0.01))


@instead_of(oracle.step, "weight_decay * p is added to the gradient, as in Adam")
def coupled(p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any) -> Moved:
    return adam.step(p, state, grad, lr, weight_decay=weight_decay, **options)


def couple_as_well(message: str, *, decayed_first: bool, only_m: bool = False) -> Mistake:
    """Return a mistake that also adds `weight_decay * p` to the gradient in both averages or only in m."""

    def mistaken(p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any) -> Moved:
        shrunk = oracle.shrink(p, lr, weight_decay)
        added = adam.add_decay(shrunk if decayed_first else p, grad, weight_decay)
        return step_with(shrunk, state, (added, grad if only_m else added), lr, **options)

    return instead_of(oracle.step, message)(mistaken)


coupled_as_well = couple_as_well(
    "p is multiplied by 1 - lr * weight_decay, and weight_decay * p is also added to the gradient", decayed_first=False
)
coupled_afterwards = couple_as_well(
    "p is multiplied by 1 - lr * weight_decay, and then weight_decay * p is also added to the gradient",
    decayed_first=True,
)
coupled_in_the_average = couple_as_well(
    "p is multiplied by 1 - lr * weight_decay, and weight_decay * p is also added to the gradient in m",
    decayed_first=False,
    only_m=True,
)
coupled_in_the_average_afterwards = couple_as_well(
    "p is multiplied by 1 - lr * weight_decay, and then weight_decay * p is also added to the gradient in m",
    decayed_first=True,
    only_m=True,
)


@instead_of(oracle.step, "the decay is applied after the update, so it also shrinks the update")
def decayed_afterwards(
    p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any
) -> Moved:
    moved, state = adam.step(p, state, grad, lr, **options)
    return oracle.shrink(moved, lr, weight_decay), state


@instead_of(oracle.step, "1 - lr * weight_decay multiplies the update instead of p, so p itself does not decay")
def update_decayed(p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any) -> Moved:
    return adam.step(p, state, grad, lr * (1 - lr * weight_decay), **options)


@instead_of(oracle.step, "a parameter does not decay in its first step, only in later ones")
def decayed_one_step_late(
    p: P, state: State | None, grad: P, lr: float, weight_decay: float = 0.01, **options: Any
) -> Moved:
    return oracle.step(p, state, grad, lr, weight_decay=weight_decay if state else 0.0, **options)


@instead_of(oracle.step, "the decay is 1 - beta1 times as large as it should be: lr * weight_decay * p needs no beta")
def decayed_by_a_share(
    p: P,
    state: State | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    weight_decay: float = 0.01,
    **options: Any,
) -> Moved:
    return oracle.step(p, state, grad, lr, betas, weight_decay=(1 - betas[0]) * weight_decay, **options)


@instead_of(oracle.step, "the decay uses lr / (1 - beta1ᵗ) instead of lr: bias correction is only for the averages")
def decayed_at_the_corrected_rate(
    p: P,
    state: State | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    weight_decay: float = 0.01,
    **options: Any,
) -> Moved:
    t = state[-1] if state else 0
    of_m, _ = adam.get_corrections(t + 1, betas)
    return oracle.step(p, state, grad, lr, betas, weight_decay=weight_decay / of_m, **options)


@instead_of(oracle.step, "the decay is divided by the square root, like the average of the gradient")
def decayed_over_the_root(
    p: P,
    state: State | None,
    grad: P,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> Moved:
    moved, (m, v, t) = adam.step(p, state, grad, lr, betas, eps)
    _, of_v = adam.get_corrections(t, betas)
    return moved - lr * adam.get_direction(weight_decay * p, v / of_v, eps), (m, v, t)


@instead_of(oracle.step, "a changed lr affects only the update, not the decay")
def decayed_at_the_first_rate(
    p: P, state: Any, grad: P, lr: float, weight_decay: float = 0.01, **options: Any
) -> tuple[P, Any]:
    inner, first = state or (None, lr)
    moved, inner = adam.step(oracle.shrink(p, first, weight_decay), inner, grad, lr, **options)
    return moved, (inner, first)


@instead_of(course.get_options, "a group's own weight_decay is ignored")
def constant_decay(given: Sequence[Options], group: int) -> Options:
    return {name: value for name, value in course.get_options(given, group).items() if name != "weight_decay"}
