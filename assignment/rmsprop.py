"""Optimizers: RMSprop, steps in units of the usual gradient."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class RMSprop(torch.optim.Optimizer):
    """As `torch.optim.RMSprop` in its plain form.

    Each parameter has a running average `v` of its squared gradients, which starts at 0:

        v ← alpha · v + (1 − alpha) · grad²
        p ← p − lr · grad / (sqrt(v) + eps)

    AdaGrad's sum only grows, and so its steps only shrink; here old squares fade. `eps` stands outside the root: it
    shows where gradients are not much larger than `eps`, and keeps 0 / 0 away.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        p.grad = torch.tensor([2.0])
        optimizer = RMSprop([p], lr=0.1)
        optimizer.step()           # v = 0.01 * 4 = 0.04, p = 1 - 0.1 * 2 / 0.2 = 0
        optimizer.step()           # v = 0.99 * 0.04 + 0.04 = 0.0796, p = 0 - 0.1 * 2 / sqrt(0.0796) = -0.70888

    The first step is so large because `v` has not yet left its start at 0. RMSprop leaves it at that; Adam does not.

    - All that SGD must do holds here: parameter groups, changing rates, `None` gradients, in place, outside autograd
      (`with torch.no_grad():`).
    - Every group may have its own `alpha` and `eps`, too. In a step without a gradient (`None`) `v` stays as it is.
    - `v` lives in `self.state[p]`, under any name, so that `state_dict()` saves it: one tensor of the parameter's
      shape and dtype for each parameter, and no more.
    Left to you: scalars in the state; weight decay, momentum, `centered` and other options of torch's, as long as they
    do nothing unless asked for.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Take each squared gradient into its average, then move every parameter."""
        raise NotImplementedError
