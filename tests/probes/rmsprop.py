"""Probes of RMSprop."""

from typing import Any

from torch import Tensor

from torchkata import typed

from . import optimizer_code, optimizers


@typed(optimizer_code.run("RMSprop"))
def run(assignment: Any, params: Any, lrs: Any, grads: Any, options: Any = ()) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.rmsprop.RMSprop, params, lrs, grads, options)


@typed(optimizer_code.in_place("RMSprop"))
def in_place(
    assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Any
) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.rmsprop.RMSprop, params, transposed, lr, grads, options)


@typed(optimizer_code.scheduled("RMSprop"))
def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.rmsprop.RMSprop, param, lr, gamma, grads)


@typed(optimizer_code.defaults("RMSprop"))
def defaults(assignment: Any, param: Tensor, grads: list[Tensor], options: Any) -> object:
    """The parameter after every step, with options for all groups, or without any."""
    return optimizers.defaults(assignment.rmsprop.RMSprop, param, grads, options)


@typed(optimizer_code.interrupted("RMSprop"))
def interrupted(assignment: Any, params: Any, lrs: Any, grads: Any, stop: int, options: Any = ()) -> object:
    """A run, its end, and the end of the same run saved and loaded midway."""
    return optimizers.interrupted(assignment.rmsprop.RMSprop, params, lrs, grads, stop, options)


@typed(optimizer_code.run("RMSprop", "opt.state"))
def bytes_kept(assignment: Any, params: Any, lrs: Any, grads: Any) -> dict[str, int]:
    """How many bytes of tensors, by dtype, the optimizer holds after the last step."""
    return optimizers.bytes_kept(assignment.rmsprop.RMSprop, params, lrs, grads)


@typed(optimizer_code.loaded("RMSprop"))
def loaded(assignment: Any, params: Any, saved: Any, own: Any, grads: Any) -> object:
    """The parameters after a step of an optimizer into which other rates than its own were loaded."""
    return optimizers.loaded(assignment.rmsprop.RMSprop, params, saved, own, grads)
