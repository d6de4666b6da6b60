"""Stochastic gradient descent, as a torch optimizer."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class SGD(torch.optim.Optimizer):
    """Update every parameter in the direction opposite to its gradient: `p ← p − lr · grad`.

    `super().__init__(params, {"lr": lr})` creates `self.param_groups`, a list of dicts, each with a list "params" and
    its own "lr". It also creates `self.state[p]`, a dict for each parameter, which SGD does not need.

    `loss.backward()` adds to `w.grad` for every leaf tensor `w` that requires grad, such as a parameter. An
    intermediate result keeps its gradient only after `retain_grad()`.

    Example of autograd:
        x, w = torch.tensor([1.0, 2.0, 3.0]), torch.ones(3, requires_grad=True)
        y = x @ w
        y.retain_grad()
        loss = 0.5 * (y - 5) ** 2
        loss.backward()
        w.grad                     # [1, 2, 3]
        y.grad                     # 1: kept by retain_grad()
        x.grad                     # None: x does not require grad

    Example:
        p = nn.Parameter(torch.tensor([1.0, 2.0]))
        p.grad = torch.tensor([10.0, -10.0])
        SGD([p], lr=0.1).step()
        p                          # [0.0, 3.0]: still the same Parameter
        a, b = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))
        optimizer = SGD([{"params": [a], "lr": 0.1}, {"params": [b]}], lr=0.5)
        [group["lr"] for group in optimizer.param_groups]     # [0.1, 0.5]

    Details:
    - Update in place (same `Parameter`, same memory) under `torch.no_grad()`, for any shape and float dtype. Do not
      change `grad`.
    - Skip a parameter only if its `grad` is None. Do not clip or filter gradients: apply large and NaN gradients as
      they are. An `lr` of 0 is valid.
    - Read `self.param_groups` in every step: schedulers change "lr", `add_param_group` adds a group, and
      `load_state_dict` replaces all groups.

    Not specified (any choice is fine): support for the closure (a function that recomputes the loss); further options
    with defaults; whether you use a loop or `foreach` functions.
    """

    def __init__(self, params: Iterable[nn.Parameter] | Iterable[dict[str, Any]], lr: float = 0.01) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Update every parameter that has a gradient."""
        raise NotImplementedError
