"""Probes of SGD."""

from typing import Any

from torch import Tensor

from . import optimizers


def run(assignment: Any, params: Any, lrs: Any, grads: Any) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.sgd.SGD, params, lrs, grads)


def in_place(
    assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Any
) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.sgd.SGD, params, transposed, lr, grads, options)


def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.sgd.SGD, param, lr, gamma, grads)


def defaults(assignment: Any, param: Tensor, grads: list[Tensor], options: Any) -> object:
    """The parameter after every step, without any option, and with options for all groups."""
    return optimizers.defaults(assignment.sgd.SGD, param, grads, options)


def loaded(assignment: Any, params: Any, saved: Any, own: Any, grads: Any) -> object:
    """The parameters after a step of an optimizer into which other rates than its own were loaded."""
    return optimizers.loaded(assignment.sgd.SGD, params, saved, own, grads)
