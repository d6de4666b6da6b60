"""Probes of AdaGrad."""

import copy
from typing import Any

from torch import Tensor

from . import optimizers


def run(assignment: Any, params: Any, lrs: Any, grads: Any) -> object:
    """The parameters after every step."""
    return optimizers.run(assignment.adagrad.AdaGrad, params, lrs, grads)


def in_place(assignment: Any, params: list[Tensor], transposed: bool, lr: float, grads: list[Tensor]) -> object:
    """Which facts about parameters and gradients survive a step."""
    return optimizers.in_place(assignment.adagrad.AdaGrad, params, transposed, lr, grads)


def scheduled(assignment: Any, param: Tensor, lr: float, gamma: float, grads: list[Tensor]) -> object:
    """The parameter after every step under a scheduler."""
    return optimizers.scheduled(assignment.adagrad.AdaGrad, param, lr, gamma, grads)


def default_rates(assignment: Any, param: Tensor, grad: Tensor, lr: float) -> object:
    """One step without any rate, one with a rate for all."""
    return optimizers.default_rates(assignment.adagrad.AdaGrad, param, grad, lr)


def sums_of_squares(assignment: Any, params: Any, lrs: Any, grads: Any) -> list[list[object]]:
    """`state[p]["g2"]` of every parameter after the last step, None where there is none."""
    optimizer = optimizers.build(assignment.adagrad.AdaGrad, params, lrs[0])
    optimizers.walk(optimizer, lrs, grads)
    return [[optimizer.state.get(p, {}).get("g2") for p in group["params"]] for group in optimizer.param_groups]


def tensors_kept(assignment: Any, params: Any, lrs: Any, grads: Any) -> int:
    """How many tensors of more than one element the optimizer holds, its parameters left out."""
    optimizer = optimizers.build(assignment.adagrad.AdaGrad, params, lrs[0])
    optimizers.walk(optimizer, lrs, grads)
    own = {name: value for name, value in vars(optimizer).items() if name not in ("param_groups", "defaults")}
    return large_tensors(own)


def large_tensors(value: object) -> int:
    """The tensors of more than one element within, however deep."""
    if isinstance(value, Tensor):
        return int(value.numel() > 1)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple, set)) else ()
    return sum(map(large_tensors, inner))


def interrupted(assignment: Any, params: Any, lrs: Any, grads: Any, stop: int) -> dict[str, object]:
    """A run, its end, and the end of the same run saved after `stop` steps and loaded into a new optimizer."""
    AdaGrad = assignment.adagrad.AdaGrad
    whole = optimizers.build(AdaGrad, params, lrs[0])
    course = optimizers.walk(whole, lrs, grads)
    first = optimizers.build(AdaGrad, params, lrs[0])
    optimizers.walk(first, lrs[:stop], grads[:stop])
    second = optimizers.build(AdaGrad, optimizers.now(first), lrs[0])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    optimizers.walk(second, lrs[stop:], grads[stop:])
    return {"course": course, "end": optimizers.now(whole), "resumed end": optimizers.now(second)}
