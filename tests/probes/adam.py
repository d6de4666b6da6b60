"""Probes of Adam."""

from typing import Any

from torch import Tensor

from torchkata import typed

from . import optimizer_code, optimizers


@typed(optimizer_code.run("Adam"))
def run(assignment: Any, params: Any, lrs: Any, grads: Any, options: Any = ()) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.adam.Adam, params, lrs, grads, options)


@typed(optimizer_code.in_place("Adam"))
def in_place(
    assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Any
) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.adam.Adam, params, transposed, lr, grads, options)


@typed(optimizer_code.scheduled("Adam"))
def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.adam.Adam, param, lr, gamma, grads)


@typed(optimizer_code.defaults("Adam"))
def defaults(assignment: Any, param: Tensor, grads: list[Tensor], options: Any) -> object:
    """The parameter after every step, with options for all groups, or without any."""
    return optimizers.defaults(assignment.adam.Adam, param, grads, options)


@typed(optimizer_code.interrupted("Adam"))
def interrupted(assignment: Any, params: Any, lrs: Any, grads: Any, stop: int, options: Any = ()) -> object:
    """A run, its end, and the end of the same run saved and loaded midway."""
    return optimizers.interrupted(assignment.adam.Adam, params, lrs, grads, stop, options)


@typed(optimizer_code.run("Adam", "opt.state"))
def bytes_kept(assignment: Any, params: Any, lrs: Any, grads: Any) -> dict[str, int]:
    """How many bytes of tensors, by dtype, the optimizer holds after the last step."""
    return optimizers.bytes_kept(assignment.adam.Adam, params, lrs, grads)


@typed(optimizer_code.counted_on("Adam"))
def counted_on(assignment: Any, steps: int) -> object:
    """Where many steps lead, in one go and saved and loaded midway."""
    return optimizers.counted_on(assignment.adam.Adam, steps)


@typed(optimizer_code.loaded("Adam"))
def loaded(assignment: Any, params: Any, saved: Any, own: Any, grads: Any) -> object:
    """The parameters after a step of an optimizer into which other rates than its own were loaded."""
    return optimizers.loaded(assignment.adam.Adam, params, saved, own, grads)
