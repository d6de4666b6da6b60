"""Probes of SGD."""

from typing import Any

from torch import Tensor

from torchkata import typed

from . import optimizer_code, optimizers


@typed(optimizer_code.run("SGD"))
def run(assignment: Any, params: Any, lrs: Any, grads: Any) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.sgd.SGD, params, lrs, grads)


@typed(optimizer_code.in_place("SGD"))
def in_place(
    assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Any
) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.sgd.SGD, params, transposed, lr, grads, options)


@typed(optimizer_code.scheduled("SGD"))
def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.sgd.SGD, param, lr, gamma, grads)


@typed(optimizer_code.defaults("SGD"))
def defaults(assignment: Any, param: Tensor, grads: list[Tensor], options: Any) -> object:
    """The parameter after every step, with options for all groups, or without any."""
    return optimizers.defaults(assignment.sgd.SGD, param, grads, options)


@typed(optimizer_code.loaded("SGD"))
def loaded(assignment: Any, params: Any, saved: Any, own: Any, grads: Any) -> object:
    """The parameters after a step of an optimizer into which other rates than its own were loaded."""
    return optimizers.loaded(assignment.sgd.SGD, params, saved, own, grads)
