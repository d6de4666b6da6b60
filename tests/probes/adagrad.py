"""Probes for AdaGrad's state."""

from typing import Any

from torchkata import typed

from . import optimizer_code, optimizers
from .optimizer_code import Grads, Groups, Rates


@typed(optimizer_code.write_state)
def read_g2(assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads) -> list[list[object]]:
    """Return `state[p]["g2"]` of every parameter after the last step, or None."""
    optimizer = optimizers.build(optimizers.find_class(assignment, name), params, lrs[0])
    optimizers.take_steps(optimizer, lrs, grads)
    return [[optimizer.state.get(p, {}).get("g2") for p in group["params"]] for group in optimizer.param_groups]


@typed(optimizer_code.write_state)
def count_tensors(assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads) -> int:
    """Count the tensors with more than one element that the optimizer stores in addition to its parameters."""
    optimizer = optimizers.build(optimizers.find_class(assignment, name), params, lrs[0])
    optimizers.take_steps(optimizer, lrs, grads)
    held = [value for key, value in vars(optimizer).items() if key not in ("param_groups", "defaults")]
    return sum(tensor.numel() > 1 for tensor in optimizers.find_tensors(held))
