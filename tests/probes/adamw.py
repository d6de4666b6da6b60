"""Probes of AdamW."""

from typing import Any

from torch import Tensor

from torchkata import typed

from . import optimizer_code, optimizers


@typed(optimizer_code.run("AdamW"))
def run(assignment: Any, params: Any, lrs: Any, grads: Any, options: Any = ()) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.adamw.AdamW, params, lrs, grads, options)


@typed(optimizer_code.in_place("AdamW"))
def in_place(
    assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Any
) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.adamw.AdamW, params, transposed, lr, grads, options)


@typed(optimizer_code.scheduled("AdamW"))
def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.adamw.AdamW, param, lr, gamma, grads)


@typed(optimizer_code.defaults("AdamW"))
def defaults(assignment: Any, param: Tensor, grads: list[Tensor], options: Any) -> object:
    """The parameter after every step, with options for all groups, or without any."""
    return optimizers.defaults(assignment.adamw.AdamW, param, grads, options)


@typed(optimizer_code.interrupted("AdamW"))
def interrupted(assignment: Any, params: Any, lrs: Any, grads: Any, stop: int, options: Any = ()) -> object:
    """A run, its end, and the end of the same run saved and loaded midway."""
    return optimizers.interrupted(assignment.adamw.AdamW, params, lrs, grads, stop, options)


@typed(optimizer_code.run("AdamW", "opt.state"))
def bytes_kept(assignment: Any, params: Any, lrs: Any, grads: Any) -> dict[str, int]:
    """How many bytes of tensors, by dtype, the optimizer holds after the last step."""
    return optimizers.bytes_kept(assignment.adamw.AdamW, params, lrs, grads)


@typed(optimizer_code.counted_on("AdamW"))
def counted_on(assignment: Any, steps: int) -> object:
    """Where many steps lead, in one go and saved and loaded midway."""
    return optimizers.counted_on(assignment.adamw.AdamW, steps)


@typed(optimizer_code.loaded("AdamW"))
def loaded(assignment: Any, params: Any, saved: Any, own: Any, grads: Any) -> object:
    """The parameters after a step of an optimizer into which other rates than its own were loaded."""
    return optimizers.loaded(assignment.adamw.AdamW, params, saved, own, grads)
