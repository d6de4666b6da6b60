"""Optimizers: momentum, gradient descent that keeps its direction."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class Momentum(torch.optim.Optimizer):
    """`torch.optim.SGD` with its momentum, dampening and Nesterov's form.

    Each parameter has a memory `b` of its own:

        b ← grad                                          in the first step of this parameter, dampening or not
        b ← momentum · b + (1 − dampening) · grad         in all later ones
        p ← p − lr · b                                    or, with nesterov,  p ← p − lr · (grad + momentum · b)

    Where gradients agree the steps grow, up to `1 / (1 - momentum)` times; where they alternate they cancel. `lr` is
    outside the memory: a rate that changes counts from the next step on, for all that is remembered.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        p.grad = torch.tensor([2.0])
        optimizer = Momentum([p], lr=0.1, momentum=0.9)
        optimizer.step()           # b = 2, p = 1 - 0.1 * 2 = 0.8
        optimizer.step()           # b = 0.9 * 2 + 2 = 3.8, p = 0.8 - 0.1 * 3.8 = 0.42

    With `nesterov=True` it is 1 - 0.1 * (2 + 0.9 * 2) = 0.62, then 0.62 - 0.1 * (2 + 0.9 * 3.8) = 0.078.

    - All that SGD must do holds here: parameter groups, changing rates, `None` gradients, in place, outside autograd
      (`with torch.no_grad():`).
    - Every group may have its own `momentum`, `dampening` and `nesterov`, too. `momentum` is 0.9 unless given
      (torch's SGD has 0, which is none); the other defaults are torch's.
    - In a step without a gradient (`None`) a parameter's memory stays as it is.
    - The memory lives in `self.state[p]`, under any name, so that `state_dict()` saves it: one tensor of the
      parameter's shape and dtype for each parameter, and no more. It is not the gradient's own memory, which the next
      `backward()` may write into.
    Left to you: dampening together with nesterov, or with a momentum of 0; scalars in the state; weight decay and other
    options of torch's, as long as they do nothing unless asked for.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.001,
        momentum: float = 0.9,
        dampening: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        raise NotImplementedError

    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Take each gradient into its memory, then move every parameter."""
        raise NotImplementedError
