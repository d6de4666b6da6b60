"""Stochastic gradient descent, as a torch optimizer."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class SGD(torch.optim.Optimizer):
    """`p ← p − lr · grad` in place, where `lr` is the learning rate of the parameter group that p is in.

    An optimizer passes its parameters, and the options with their defaults, to the class it comes from:

        super().__init__(params, {"lr": lr})

    From then on `self.param_groups` is a list of parameter groups. Each is a dict with a list "params" and an "lr" of
    its own. A scheduler may change the rate between steps, and `load_state_dict` puts the saved groups in place of
    these: read groups and rates anew in every step. `self.state[p]`, a dict for each parameter, empty at first, is for
    what has to be remembered of it (here nothing); `state_dict()` saves both.

    The gradients are there already: `loss.backward()` adds to `w.grad` for each tensor w that asks for one, as
    parameters do. What was computed on the way keeps its gradient only after `retain_grad()`.

    Example of what autograd leaves behind:
        x, w = torch.tensor([1.0, 2.0, 3.0]), torch.ones(3, requires_grad=True)
        y = x @ w
        y.retain_grad()
        loss = 0.5 * (y - 5) ** 2
        loss.backward()
        w.grad                     # [1, 2, 3]: of the loss, and to be added to by the next backward()
        y.grad                     # 1: only because of retain_grad()
        x.grad                     # None: data asks for no gradient

    Example:
        p = nn.Parameter(torch.tensor([1.0, 2.0]))
        p.grad = torch.tensor([10.0, -10.0])
        SGD([p], lr=0.1).step()
        p                          # [0.0, 3.0]: still the same Parameter
        a, b = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))
        optimizer = SGD([{"params": [a], "lr": 0.1}, {"params": [b]}], lr=0.5)
        [group["lr"] for group in optimizer.param_groups]     # [0.1, 0.5]

    - Update in place (same `Parameter`, same memory), outside autograd, and leave `grad` as it was: the updates stand
      in a block `with torch.no_grad():`, or `@torch.no_grad()` stands above `step`.
    - Skip parameters whose `grad` is `None`, and no others: a gradient counts as it is, however large, and with NaN in
      it, too. A rate of 0 is a rate: it moves nothing.
    Left to you: the closure (a function that computes the loss anew, for optimizers that need it more than once in a
    step), further options with defaults, a loop or a `foreach` form.
    """

    def __init__(self, params: Iterable[nn.Parameter] | Iterable[dict[str, Any]], lr: float = 0.01) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Move every parameter that has a gradient one step against it."""
        raise NotImplementedError
