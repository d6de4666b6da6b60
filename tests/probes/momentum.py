"""Probes of Momentum."""

from typing import Any

from torch import Tensor

from torchkata import typed

from . import optimizer_code, optimizers


@typed(optimizer_code.run("Momentum"))
def run(assignment: Any, params: Any, lrs: Any, grads: Any, options: Any = ()) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.momentum.Momentum, params, lrs, grads, options)


@typed(optimizer_code.in_place("Momentum"))
def in_place(
    assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Any
) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.momentum.Momentum, params, transposed, lr, grads, options)


@typed(optimizer_code.scheduled("Momentum"))
def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.momentum.Momentum, param, lr, gamma, grads)


@typed(optimizer_code.defaults("Momentum"))
def defaults(assignment: Any, param: Tensor, grads: list[Tensor], options: Any) -> object:
    """The parameter after every step, with options for all groups, or without any."""
    return optimizers.defaults(assignment.momentum.Momentum, param, grads, options)


@typed(optimizer_code.interrupted("Momentum"))
def interrupted(assignment: Any, params: Any, lrs: Any, grads: Any, stop: int, options: Any = ()) -> object:
    """A run, its end, and the end of the same run saved and loaded midway."""
    return optimizers.interrupted(assignment.momentum.Momentum, params, lrs, grads, stop, options)


@typed(optimizer_code.run("Momentum", "opt.state"))
def bytes_kept(assignment: Any, params: Any, lrs: Any, grads: Any) -> dict[str, int]:
    """How many bytes of tensors, by dtype, the optimizer holds after the last step."""
    return optimizers.bytes_kept(assignment.momentum.Momentum, params, lrs, grads)


@typed(optimizer_code.refilled("Momentum"))
def refilled(assignment: Any, params: Any, lrs: Any, grads: Any) -> object:
    """The parameters after every step, where each gradient is written into the same tensor as the one before."""
    return optimizers.refilled(assignment.momentum.Momentum, params, lrs, grads)


@typed(optimizer_code.loaded("Momentum"))
def loaded(assignment: Any, params: Any, saved: Any, own: Any, grads: Any) -> object:
    """The parameters after a step of an optimizer into which other rates than its own were loaded."""
    return optimizers.loaded(assignment.momentum.Momentum, params, saved, own, grads)
