"""Momentum: SGD with a decaying sum of past gradients."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class Momentum(torch.optim.Optimizer):
    """The update of `torch.optim.SGD` with momentum, dampening and Nesterov's variant.

    Each parameter has its own momentum buffer `b`:

        b ← grad                                          in the parameter's first step, even with dampening
        b ← momentum · b + (1 − dampening) · grad         in later steps
        p ← p − lr · b                                    or, with nesterov,  p ← p − lr · (grad + momentum · b)

    `lr` is not included in `b`, so a new learning rate applies to the whole buffer from the next step on.

    Example:
        p = nn.Parameter(torch.tensor([1.0]))
        p.grad = torch.tensor([2.0])
        optimizer = Momentum([p], lr=0.1, momentum=0.9)
        optimizer.step()           # b = 2, p = 1 - 0.1 * 2 = 0.8
        optimizer.step()           # b = 0.9 * 2 + 2 = 3.8, p = 0.8 - 0.1 * 3.8 = 0.42

    With `nesterov=True`, the first step gives p = 1 - 0.1 * (2 + 0.9 * 2) = 0.62.

    Details:
    - Each group may have its own `momentum`, `dampening` and `nesterov`.
    - If `p.grad` is None, skip `p`, so that its buffer does not change.
    - Store one tensor of p's shape and dtype in `self.state[p]`, under any name. Copy the first gradient, because
      `backward()` changes `p.grad` in place. After `load_state_dict`, training must continue exactly as if it had not
      been interrupted.
    - As in `SGD`, support parameter groups, a changing `lr` and `None` gradients, do not change `grad`, and update in
      place under `torch.no_grad()`.

    Not specified (any choice is fine): combinations of two of dampening, nesterov and `momentum=0`; whether the
    state contains other scalars; support for torch's other options, if they are off by default.
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
        """Update every momentum buffer, then update every parameter that has a gradient."""
        raise NotImplementedError
