"""Probes of AdaGrad."""

from typing import Any

from torch import Tensor

from torchkata import typed

from . import optimizer_code, optimizers


@typed(optimizer_code.run("AdaGrad"))
def run(assignment: Any, params: Any, lrs: Any, grads: Any) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.adagrad.AdaGrad, params, lrs, grads)


@typed(optimizer_code.in_place("AdaGrad"))
def in_place(
    assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor], options: Any
) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.adagrad.AdaGrad, params, transposed, lr, grads, options)


@typed(optimizer_code.scheduled("AdaGrad"))
def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.adagrad.AdaGrad, param, lr, gamma, grads)


@typed(optimizer_code.defaults("AdaGrad"))
def defaults(assignment: Any, param: Tensor, grads: list[Tensor], options: Any) -> object:
    """The parameter after every step, with options for all groups, or without any."""
    return optimizers.defaults(assignment.adagrad.AdaGrad, param, grads, options)


@typed(optimizer_code.run("AdaGrad", "opt.state"))
def sums_of_squares(assignment: Any, params: Any, lrs: Any, grads: Any) -> list[list[object]]:
    """`state[p]["g2"]` of every parameter after the last step, None where there is none."""
    optimizer = optimizers.build(assignment.adagrad.AdaGrad, params, lrs[0])
    optimizers.walk(optimizer, lrs, grads)
    return [[optimizer.state.get(p, {}).get("g2") for p in group["params"]] for group in optimizer.param_groups]


@typed(optimizer_code.run("AdaGrad", "opt.state"))
def tensors_kept(assignment: Any, params: Any, lrs: Any, grads: Any) -> int:
    """How many tensors of more than one element the optimizer holds, its parameters left out."""
    optimizer = optimizers.build(assignment.adagrad.AdaGrad, params, lrs[0])
    optimizers.walk(optimizer, lrs, grads)
    own = [value for name, value in vars(optimizer).items() if name not in ("param_groups", "defaults")]
    return sum(tensor.numel() > 1 for tensor in optimizers.tensors_in(own))


@typed(optimizer_code.interrupted("AdaGrad"))
def interrupted(assignment: Any, params: Any, lrs: Any, grads: Any, stop: int, options: Any = ()) -> object:
    """A run, its end, and the end of the same run saved and loaded midway."""
    return optimizers.interrupted(assignment.adagrad.AdaGrad, params, lrs, grads, stop, options)


@typed(optimizer_code.loaded("AdaGrad"))
def loaded(assignment: Any, params: Any, saved: Any, own: Any, grads: Any) -> object:
    """The parameters after a step of an optimizer into which other rates than its own were loaded."""
    return optimizers.loaded(assignment.adagrad.AdaGrad, params, saved, own, grads)
