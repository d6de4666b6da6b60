"""Probes for AdaGrad's state."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from torchkata import typed

from . import optimizer_code, optimizers
from .optimizer_code import Grads, Groups, Rates


@typed(optimizer_code.write_state)
def read_g2(assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads) -> list[list[object]]:
    """Return the result of `find_g2` for the state of every parameter after the last step."""
    optimizer = optimizers.build(optimizers.find_class(assignment, name), params, lrs[0])
    optimizers.take_steps(optimizer, lrs, grads)
    return [[find_g2(optimizer.state.get(p, {}), p) for p in group["params"]] for group in optimizer.param_groups]


def find_g2(state: Mapping[str, object], p: Tensor) -> object:
    """Return `g2` or, if it is missing, the name of the only tensor with p's shape (None if it is not unique)."""
    names = [name for name, value in state.items() if isinstance(value, Tensor) and value.shape == p.shape]
    return state["g2"] if "g2" in state else names[0] if len(names) == 1 else None


@typed(optimizer_code.write_state)
def count_tensors(assignment: Any, name: str, params: Groups, lrs: Rates, grads: Grads) -> int:
    """Count the tensors with more than one element that the optimizer stores in addition to its parameters."""
    optimizer = optimizers.build(optimizers.find_class(assignment, name), params, lrs[0])
    optimizers.take_steps(optimizer, lrs, grads)
    held = [value for key, value in vars(optimizer).items() if key not in ("param_groups", "defaults")]
    return sum(tensor.numel() > 1 for tensor in optimizers.find_tensors(held))
