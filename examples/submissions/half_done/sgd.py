"""Kata 5: stochastic gradient descent, as a torch optimizer."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class SGD(torch.optim.Optimizer):
    """`p ← p − lr · grad` for every parameter that has a gradient.

    `torch.optim.Optimizer` keeps the parameters in `self.param_groups`, a list of dicts with "params" and "lr".
    Each group has its own rate, and a scheduler may change it between steps: read it anew in every step.

    Example:
        p = nn.Parameter(torch.tensor([1.0, 2.0]))
        p.grad = torch.tensor([10.0, -10.0])
        SGD([p], lr=0.1).step()
        p                          # [0.0, 3.0], still the same Parameter

    - Update in place (same `Parameter`, same memory), outside autograd, and leave `grad` as it was.
    - Skip parameters whose `grad` is `None`.
    Left to you: the closure, further options with defaults, a loop or a `foreach` form.
    """

    def __init__(self, params: Iterable[nn.Parameter] | Iterable[dict[str, Any]], lr: float = 0.01) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Move every parameter one step against its gradient."""
        raise NotImplementedError
